"""What decision checks cost beside their model; run apart, with ``python -m tests.bench.bench_decision`` (issue 8.2).

Two figures: 2,000 new units at 50 ms latency and concurrency 16 beside the ideal 6.25 s, and 10,000 known units beside
reading and parsing alone. The service is a process of its own, so that its work is not ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_reqfile.reqfile.decision import parse_decision
from pytest_reqfile.reqfile.units import ParsedFile
from tests.support.decisions import DECISION, PYFUNC
from tests.support.jev import EXACT
from tests.support.requirements import req

LATENCY = 0.05
CONCURRENCY = 16
NEW_UNITS = 2_000
KNOWN_UNITS = 10_000
PER_FILE = 50
IDEAL = NEW_UNITS * LATENCY / CONCURRENCY


class Service(asyncio.Protocol):
    """A connection of a service that answers after ``latency`` seconds; as little work as a service can do."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]):
            self._data = b""
            asyncio.get_running_loop().call_later(self._latency, self._answer, body)

    def _answer(self, body: bytes) -> None:
        answers = {identifier: {"noul": 0.05} for identifier in json.loads(body)["questions"]}
        text = json.dumps({"model": EXACT, "answers": answers}).encode()
        assert self._transport is not None
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))


async def serve(latency: float) -> None:
    """Run the service, printing its port."""
    server = await asyncio.get_running_loop().create_server(lambda: Service(latency), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def repository(folder: Path, units: int, port: int) -> Path:
    """A repository with that many Python functions, each text its own."""
    folder.mkdir()
    subprocess.run(("git", "init", "-q", str(folder)), check=True)
    (folder / "Reqfile.yaml").write_text(req(ONE_JOB=DECISION))
    (folder / ".reqfile" / "ONE_JOB").mkdir(parents=True)
    (folder / ".reqfile" / "ONE_JOB" / "decision.yaml").write_text(PYFUNC)
    config = f"decision:\n  endpoint: http://127.0.0.1:{port}/api/v1\n  concurrency: {CONCURRENCY}\n"
    (folder / ".reqfile" / "config.yaml").write_text(config)
    body = "".join(f"    value_{line} = compute(value, {line})\n" for line in range(8))
    for number in range(units // PER_FILE):
        functions = (f"def f{number}_{i}(value):\n{body}    return value\n\n\n" for i in range(PER_FILE))
        (folder / f"module{number}.py").write_text("".join(functions))
    return folder


def check(folder: Path, units: int) -> float:
    """Seconds of a whole ``reqfile check``."""
    env = {**os.environ, "OPENROUTER_API_KEY": "test-key"}
    start = time.perf_counter()
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "check")
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode or f"{units} code units judged" not in done.stdout:
        raise SystemExit(done.stdout + done.stderr)
    return seconds


def read_and_parse(folder: Path) -> float:
    """Seconds of processor that reading the files and selecting their units take, in this process."""
    decision = parse_decision(PYFUNC, "decision.yaml")
    start = time.process_time()
    for path in sorted(folder.glob("*.py")):
        ParsedFile(path.name, path.read_text()).units(decision, decision.units)
    return time.process_time() - start


def start_and_list(folder: Path) -> float:
    """Seconds of a run that judges nothing: start of the interpreter, listing, loading."""
    start = time.perf_counter()
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "list")
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - start


def median(task: Callable[[], float], rounds: int = 3) -> float:
    return statistics.median(task() for _ in range(rounds))


def new_units(work: Path, port: int) -> bool:
    """2,000 units that nobody has asked about."""
    folder = repository(work / "new", NEW_UNITS, port)

    def fresh() -> float:
        (folder / ".git" / "reqfile" / "jev-cache").unlink(missing_ok=True)
        return check(folder, NEW_UNITS)

    seconds = median(fresh)
    ratio = seconds / IDEAL
    print(f"{NEW_UNITS} new units: {seconds:.2f} s, ideal {IDEAL:.2f} s, ratio {ratio:.2f} (target 1.20)")
    return ratio <= 1.2


def known_units(work: Path, port: int) -> bool:
    """10,000 units whose answers are known, in seconds of processor: nothing of it waits, and machines are shared."""
    folder = repository(work / "known", KNOWN_UNITS, port)
    check(folder, KNOWN_UNITS)
    whole = median(lambda: used_by_children(lambda: check(folder, KNOWN_UNITS)))
    starting = median(lambda: used_by_children(lambda: start_and_list(folder)))
    parsing = median(lambda: read_and_parse(folder))
    beyond = whole - parsing
    print(
        f"{KNOWN_UNITS} known units: {whole:.2f} s of processor, of which reading and parsing {parsing:.2f} s and "
        f"starting {starting:.2f} s; beyond reading and parsing {beyond:.2f} s (target 1.00)"
    )
    return beyond <= 1.0


def used_by_children(task: Callable[[], float]) -> float:
    """Seconds of processor that the processes of a task used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    task()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> int:
    """Measure both; 1 when a target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for latency, measure in ((LATENCY, new_units), (0.0, known_units)):
            command = (sys.executable, "-m", "tests.bench.bench_decision", "serve", str(latency))
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
                assert server.stdout is not None
                try:
                    results.append(measure(Path(folder), int(server.stdout.readline())))
                finally:
                    server.kill()
        return 0 if all(results) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(float(sys.argv[2])))
    raise SystemExit(main())
