"""The first process of an isolated command: builds its namespaces, then starts it (spec oracle.md 5.3).

Run as ``python -I -S sandbox_init.py PLAN``; it imports the standard library only, since nothing else is trusted here.
With namespaces there are three processes: ours outside waits, ours inside is process 1 (nothing a command starts
outlives it), the command is a child of that. Each dies with the one before it; a killed caller takes all of them along.
The exit code or signal of the command becomes ours; what kept it from running is written to the plan's status file.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_SYS_MOUNT_SETATTR: Final = 442  # the same number on every architecture that has it
_ATTR_RDONLY, _AT_FDCWD, _AT_RECURSIVE = 1, -100, 0x8000
_PR_PDEATHSIG, _PR_DUMPABLE, _PR_CAPBSET_DROP, _PR_SUBREAPER, _PR_NO_NEW_PRIVS = 1, 4, 24, 36, 38
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service, sys_chroot, setfcap: what a container's
# root may do by default, without making devices or raw sockets. None of them can undo a mount.
_KEPT_CAPABILITIES: Final = frozenset({0, 1, 3, 4, 5, 6, 7, 10, 18, 31})
_LAST_CAPABILITY: Final = 63
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - mounted anew
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
# What docker keeps read-only, for the same reason: writing there changes the machine.
_PROC_READ_ONLY: Final = ("sys", "sysrq-trigger", "irq", "bus", "fs")
_NOT_STARTED, _GIVE_UP_SECONDS = 125, 5.0
_COOKIE: Final = "REQFILE_RUN"  # process_tree.COOKIE, by which our caller finds what we started

Plan = dict[str, Any]


class SetupError(Exception):
    """The isolation asked for cannot be had here; the text names the step and the reason."""


def main(plan_path: str) -> int:
    """Run the plan and end as its command ended."""
    with open(plan_path, encoding="utf-8") as stream:
        plan: Plan = json.load(stream)
    plan["report"] = os.open(plan["status"], os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        _tie_to_parent()
        if os.getppid() != plan["parent"]:
            return _NOT_STARTED  # it died before we were tied to it
        code = _in_namespaces(plan) if plan["overlays"] or plan["private"] else _plain(plan)
    except (SetupError, OSError) as error:
        _report(plan, "setup", str(error))
        return _NOT_STARTED
    return _end_like(plan, code)


def _report(plan: Plan, kind: str, text: str) -> None:
    """Through a descriptor that is open since before the file system became read-only."""
    os.write(plan["report"], json.dumps({kind: text}).encode())


def _end_like(plan: Plan, status: int | None) -> int:
    if status is None:
        _report(plan, "lost", "the process that watches over the command was killed")
        return _NOT_STARTED
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


# The three processes


def _plain(plan: Plan) -> int:
    """Without namespaces of processes: the command's orphans come to us, and are killed when it ends."""
    if plan["network"] == "off":
        _unshare(plan, _NEWNET)
        _loopback_up()
    if sys.platform == "linux":
        _prctl(_PR_SUBREAPER, 1)
    command = _start(plan, drop=False)
    status = _wait_for(command)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command, signal.SIGKILL)
    _kill_orphans()
    return status


def _in_namespaces(plan: Plan) -> int | None:
    flags = _NEWNS | _NEWPID | _NEWIPC | (_NEWNET if plan["network"] == "off" else 0)
    _unshare(plan, flags)
    reading, writing = os.pipe()
    alive, held = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(held)
        os.close(reading)
        _guarded(plan, lambda: _init(plan, writing, alive))
    os.close(writing)
    os.close(alive)
    answer = os.read(reading, 16)
    _wait_for(init)
    if not answer and os.fstat(plan["report"]).st_size:
        sys.exit(_NOT_STARTED)
    return int(answer) if answer else None


def _init(plan: Plan, writing: int, alive: int) -> None:
    """Process 1: builds what the command sees, starts it, reaps orphans, and tells how it ended."""
    _tie_to_parent()
    if select.select([alive], [], [], 0)[0]:
        os._exit(_NOT_STARTED)  # the process outside died before we were tied to it
    # No descriptor of ours may be opened through /proc by the command, whoever it runs as.
    _prctl(_PR_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if plan["network"] == "off":
        _loopback_up()
    _build_mounts(plan)
    status = _wait_for(_start(plan, drop=True))
    os.write(writing, b"%d" % status)


def _guarded(plan: Plan, work: Callable[[], None]) -> NoReturn:
    """The end of a forked process, which must never return into its parent's code."""
    code = 0
    try:
        work()
    except (SetupError, OSError) as error:
        _report(plan, "setup", str(error))
        code = _NOT_STARTED
    finally:
        os._exit(code)


def _start(plan: Plan, *, drop: bool) -> int:
    """Fork the command; returns once it runs, or raises SetupError. A program that cannot be started is reported."""
    reading, writing = os.pipe()
    command = os.fork()
    if command == 0:
        os.close(reading)
        _become_command(plan, writing, drop=drop)
    os.close(writing)
    failure = os.read(reading, 4096).decode("utf-8", "replace")
    os.close(reading)
    if failure:
        kind, _, text = failure.partition(":")
        _report(plan, kind, text)
    return command


def _become_command(plan: Plan, writing: int, *, drop: bool) -> NoReturn:
    kind = "setup"
    try:
        os.setsid()  # ``kill 0`` must not reach us
        if sys.platform == "linux":
            _prctl(_PR_PDEATHSIG, signal.SIGKILL)
        if plan["user"]:
            _prctl(_PR_DUMPABLE, 1)  # else /proc/self would not be ours to write
            _unshare_user(plan["uid"], plan["gid"], 0, 0)
        if drop:
            _drop_capabilities()
        _default_signals()
        os.umask(0o022)
        kind = "folder"
        os.chdir(plan["cwd"])
        if not f"{os.getcwd()}/".startswith(f"{plan['folder']}/"):
            raise SetupError("it leads out of the workspace")
        kind = "spawn"
        environment = {**plan["environment"], _COOKIE: os.environ.get(_COOKIE, "")}
        os.execvpe(plan["argv"][0], plan["argv"], environment)  # noqa: S606 - no shell on purpose
    except (SetupError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        os.write(writing, f"{kind}:{reason}".encode()[:4000])
    finally:
        os._exit(_NOT_STARTED)


def _default_signals() -> None:
    """The interpreter ignores some of them, and a program inherits what is ignored."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _wait_for(wanted: int) -> int:
    """The wait status of one child; all others are reaped on the way."""
    while True:
        pid, status = os.wait()
        if pid == wanted:
            return status


def _kill_orphans() -> None:
    """What the command left behind are our children by now, or will be once their parents are gone."""
    give_up = time.monotonic() + _GIVE_UP_SECONDS
    while time.monotonic() < give_up:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            for child in _children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.001)


def _children() -> list[int]:
    me, found = os.getpid(), []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stream:
                state, parent = stream.read().rpartition(b")")[2].split()[:2]
                if int(parent) == me and state != b"Z":
                    found.append(int(name))
    return found


# Namespaces


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, value: int) -> None:
    _checked(_libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def _tie_to_parent() -> None:
    """Whatever kills the process that started us kills us too."""
    if sys.platform == "linux":
        _prctl(_PR_PDEATHSIG, signal.SIGKILL)


def _unshare(plan: Plan, flags: int) -> None:
    """New namespaces; with a user namespace we are root in it, which the others need."""
    if plan["user"]:
        _unshare_user(0, 0, plan["uid"], plan["gid"])
    _checked(_libc().unshare(flags), "unshare")
    if plan["user"]:
        _tie_to_parent()  # a change of credentials unties


def _unshare_user(uid: int, gid: int, outer_uid: int, outer_gid: int) -> None:
    _checked(_libc().unshare(_NEWUSER), "unshare user")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {outer_uid} 1"),
        ("gid_map", f"{gid} {outer_gid} 1"),
    ):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as stream:
                stream.write(text)
        except OSError as error:
            raise SetupError(f"user namespace: {name}: {error.strerror}") from error


def _loopback_up() -> None:
    """Loopback alone, so that tests may talk to themselves."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, 0x8914, struct.pack("16sh14x", b"lo", 0x1))  # SIOCSIFFLAGS, IFF_UP


def _drop_capabilities() -> None:
    """Root inside must not be able to undo a mount."""
    for capability in range(_LAST_CAPABILITY + 1):
        if capability not in _KEPT_CAPABILITIES:
            failed = _libc().prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
            if failed and ctypes.get_errno() == errno.EINVAL:
                break  # the kernel has no more of them
            if failed and ctypes.get_errno() == errno.EPERM and os.geteuid() != 0:
                break  # nobody but root keeps any over exec
    _prctl(_PR_NO_NEW_PRIVS, 1)


# Mounts


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    arguments = (source, target, kind, None, options)
    source_, target_, kind_, _, options_ = (None if text is None else os.fsencode(text) for text in arguments)
    what = f"mount {kind or 'bind'} on {target}"
    _checked(_libc().mount(source_, target_, kind_, ctypes.c_ulong(flags), options_), what)


def _handle(path: str) -> str:
    """A name for ``path`` that stays right whatever is mounted over it, and holds no separator of mount options."""
    return f"/proc/self/fd/{os.open(path, os.O_PATH | os.O_CLOEXEC)}"


def _bind(source: str, target: str) -> None:
    """With what is mounted below it."""
    _mount(source, target, None, _BIND | _REC)


def _read_only(path: str, on: bool, *, recursive: bool = False) -> None:
    attributes = struct.pack("QQQQ", _ATTR_RDONLY if on else 0, 0 if on else _ATTR_RDONLY, 0, 0)
    done = _libc().syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_long(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_ulong(_AT_RECURSIVE if recursive else 0),
        attributes,
        ctypes.c_size_t(len(attributes)),
    )
    _checked(done, f"remount {path} {'read-only' if on else 'writable'}")


def _build_mounts(plan: Plan) -> None:
    """Everything read-only but the overlays over the reviewed folders, scratch space and shared memory."""
    _mount("none", "/", None, _REC | _PRIVATE)
    _open_handles(plan)
    writable = _private_tmp(plan)
    writable += _overlays(plan)
    _devices()
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for name in _PROC_READ_ONLY:
        if os.path.exists(f"/proc/{name}"):
            _bind(f"/proc/{name}", f"/proc/{name}")
    for path in plan["hidden"]:
        _bind("/dev/null", path)
    _read_only("/", True, recursive=True)
    for path in (*writable, "/proc", _SHARED_MEMORY):
        _read_only(path, False)


def _private_tmp(plan: Plan) -> list[str]:
    """Scratch space; over /tmp and /var/tmp where nothing the command needs lies below them."""
    for path in plan["writable"]:
        _bind(path, path)
    if not plan["tmp"]:
        return list(plan["writable"])
    kept = {path: _handle(path) for path in (plan["root"], *(area["lower"] for area in plan["overlays"]))}
    scratch = _handle(plan["tmp"])
    for path in plan["temporary_folders"]:
        _bind(scratch, path)
    for path, handle in kept.items():
        if any(path.startswith(f"{folder}/") for folder in plan["temporary_folders"]):
            os.makedirs(path, exist_ok=True)
            _bind(handle, path)
    return [*plan["writable"], *plan["temporary_folders"]]


def _overlays(plan: Plan) -> list[str]:
    for area in plan["overlays"]:
        lower, upper, work = (area["handles"][key] for key in ("lower", "upper", "work"))
        # Without a redirect a folder of the lower side cannot be renamed; only real root may have that.
        extra = ",userxattr" if plan["user"] else ",redirect_dir=on"
        _mount("overlay", area["lower"], "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work}{extra}")
        for path, handle in area["mounts"].items():  # an overlay shows one file system only
            _bind(handle, path)
    return [area["lower"] for area in plan["overlays"]]


def _devices() -> None:
    """A /dev with nothing that leads to a disk: root may write to devices whatever is read-only."""
    nodes = {name: _handle(f"/dev/{name}") for name in _DEVICES if os.path.exists(f"/dev/{name}")}
    _mount("tmpfs", "/dev", "tmpfs", _NOSUID, "mode=0755,size=64k")
    for name, node in nodes.items():
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
        _bind(node, f"/dev/{name}")
    os.mkdir("/dev/pts")  # terminals of its own: root could write to those of the machine
    _mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    os.symlink("pts/ptmx", "/dev/ptmx")
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"/dev/{name}")
    os.mkdir(_SHARED_MEMORY)
    _mount("tmpfs", _SHARED_MEMORY, "tmpfs", _NOSUID | _NODEV, "mode=1777")


def _open_handles(plan: Plan) -> None:
    """Inside the new namespace, as overlayfs wants it, and before /tmp is covered, which may hide them."""
    for area in plan["overlays"]:
        area["handles"] = {key: _handle(area[key]) for key in ("lower", "upper", "work")}
        area["mounts"] = {path: _handle(path) for path in area["mounts"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
