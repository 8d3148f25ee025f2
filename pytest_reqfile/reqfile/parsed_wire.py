"""Reqfiles and configs as JSON lists and back, for the store of parsed files; both ways are inverse.

Lists rather than mappings, and no library: reading hundreds of requirements back must cost less than git does.
"""

from __future__ import annotations

from typing import Any

from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.settings import Config
from pytest_reqfile.reqfile.values import (
    Block,
    Check,
    CommandCheck,
    DecisionCheck,
    FolderUse,
    RepositoryUse,
    Reqfile,
    Thresholds,
    Use,
)
from pytest_reqfile.syntax.globs import Glob

Wire = list[Any]

_DEFAULT = Thresholds()


def reqfile_to_wire(reqfile: Reqfile) -> Wire:
    """The blocks, without the path: the same text elsewhere is the same."""
    return [_block_to_wire(block) for block in reqfile.blocks]


def reqfile_from_wire(wire: Wire, path: str) -> Reqfile:
    """The inverse of ``reqfile_to_wire`` for the file at ``path``."""
    return Reqfile(path=path, blocks=tuple(_block_from_wire(block, path) for block in wire))


def config_to_wire(config: Config) -> Wire:
    """Everything but where it stands."""
    exclude = [_glob_to_wire(glob) for glob in config.exclude]
    jev = [config.model, config.api_key_env, config.endpoint, config.concurrency]
    return [config.base, config.base_line, exclude, *jev]


def config_from_wire(wire: Wire, path: str, folder: str) -> Config:
    """The inverse of ``config_to_wire`` for the config at ``path`` of ``folder``."""
    base, base_line, exclude, model, api_key_env, endpoint, concurrency = wire
    return Config(
        path=path,
        folder=folder,
        base=base,
        base_line=base_line,
        exclude=tuple(map(_glob_from_wire, exclude)),
        model=model,
        api_key_env=api_key_env,
        endpoint=endpoint,
        concurrency=concurrency,
    )


def _block_to_wire(block: Block) -> Wire:
    checks = None if block.checks is None else [_check_to_wire(check) for check in block.checks]
    use = None if block.use is None else _use_to_wire(block.use)
    texts = [block.must, block.why, block.who, block.ref]
    return [block.id, block.kind, block.location.line, use, block.use_line, *texts, checks]


def _block_from_wire(wire: Wire, path: str) -> Block:
    identifier, kind, line, use, use_line, must, why, who, ref, checks = wire
    return Block(
        id=identifier,
        kind=kind,
        location=Location(path=path, line=line),
        use=None if use is None else _use_from_wire(use),
        use_line=use_line,
        must=must,
        why=why,
        who=who,
        ref=ref,
        checks=None if checks is None else tuple(map(_check_from_wire, checks)),
    )


def _use_to_wire(use: Use) -> Wire:
    return [use.path] if isinstance(use, FolderUse) else [use.repo, use.ref, use.commit]


def _use_from_wire(wire: Wire) -> Use:
    if len(wire) == 1:
        return FolderUse(path=wire[0])
    repo, ref, commit = wire
    return RepositoryUse(repo=repo, ref=ref, commit=commit)


def _check_to_wire(check: Check) -> Wire:
    if isinstance(check, DecisionCheck):
        return [check.line, check.mode]
    files = None if check.files is None else _glob_to_wire(check.files)
    limits = check.thresholds
    thresholds = None if limits == _DEFAULT else [limits.violation_above, limits.pass_below, limits.declared]
    facts = [check.format, list(check.violation_codes), check.timeout, check.fast, thresholds, check.mode]
    return [check.line, check.run, check.fix_hint, files, check.pass_files, *facts]


def _check_from_wire(wire: Wire) -> Check:
    if len(wire) == 2:
        return DecisionCheck(line=wire[0], mode=wire[1])
    line, run, fix_hint, files, pass_files, output, codes, timeout, fast, thresholds, mode = wire
    return CommandCheck(
        line=line,
        run=run,
        fix_hint=fix_hint,
        files=None if files is None else _glob_from_wire(files),
        pass_files=pass_files,
        format=output,
        violation_codes=tuple(codes),
        timeout=timeout,
        fast=fast,
        thresholds=_DEFAULT if thresholds is None else _thresholds(*thresholds),
        mode=mode,
    )


def _thresholds(violation_above: float, pass_below: float, declared: bool) -> Thresholds:
    return Thresholds(violation_above=violation_above, pass_below=pass_below, declared=declared)


def _glob_to_wire(glob: Glob) -> Wire:
    return [glob.text, glob.regex]


def _glob_from_wire(wire: Wire) -> Glob:
    text, regex = wire
    return Glob(text=text, regex=regex)
