"""What the evaluation of a run looks at: listings, changes, answers; each worked out once, where first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from pytest_reqfile.errors import GitError
from pytest_reqfile.verifiers.changes import ChangeSet, Scope, load_changes
from pytest_reqfile.verifiers.pattern_sets import Patterns
from pytest_reqfile.verifiers.scan import Answer, Search, scan
from pytest_reqfile.verifiers.selection import FileClasses, Selection, Source
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.values import Settings
from pytest_reqfile.workspace.bulk import BulkReader
from pytest_reqfile.workspace.clock import thread_seconds


class Evidence:
    """The facts about one tree, for everything that is asked of it.

    ``searches`` and ``selections`` are all that the run's verifiers will ask for: they are answered together, and an
    answer does not depend on what else is asked. ``with_lines`` says that new lines of changed files are asked for
    besides; ``changes`` replaces the scope's where it is given;
    ``now`` tells processor seconds, which only the grouping of patterns looks at.
    """

    def __init__(  # noqa: PLR0913 - the tree, what is asked of it, and what narrows it
        self,
        tree: Tree,
        settings: Settings,
        scope: Scope,
        searches: Iterable[Search] = (),
        selections: Iterable[Selection] = (),
        *,
        changes: ChangeSet | None = None,
        strict_applicability: bool = False,
        with_lines: bool = False,
        now: Callable[[], float] = thread_seconds,
    ) -> None:
        self.tree = tree
        self.settings = settings
        self.scope = scope
        self._searches = tuple(dict.fromkeys(searches))
        self._selections = (*selections, *(search.selection for search in self._searches))
        self.strict_applicability = strict_applicability
        self._changes = changes
        self._with_lines = with_lines or any(search.added_only for search in self._searches)
        self._now = now

    @cached_property
    def changes(self) -> ChangeSet:
        """Raises UsageError or GitError for a base that cannot be used."""
        if self._changes is not None:
            return self._changes
        return load_changes(self.tree, self.scope, with_lines=self._with_lines)

    @cached_property
    def classes(self) -> FileClasses:
        sources: set[Source] = {selection.source for selection in self._selections}
        return FileClasses(self._selections, {source: self._listing(source) for source in sources})

    @cached_property
    def answers(self) -> dict[Search, Answer]:
        reader = BulkReader(self.tree.root, self.settings.max_file_bytes)
        patterns = Patterns(self._now)
        return scan(self._searches, self.classes, reader.read, patterns, self.changes_added)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """Folders that could not be looked into; what is staged does not depend on them."""
        return () if self.scope.kind == "staged" else self.tree.unseen

    def changes_added(self, path: str) -> tuple[tuple[int, int], ...] | None:
        """The new lines of ``path``; None for all of them."""
        return self.changes.added(path)

    def count(self, selection: Selection) -> int:
        return self.classes.count(selection)

    def files(self, selection: Selection, limit: int | None = None) -> tuple[str, ...]:
        return self.classes.files(selection, limit)

    def _listing(self, source: Source) -> tuple[str, ...]:
        if source == "walk":
            return self.tree.walk.files
        if source == "changed" and not self.changes.everything:
            return self.tree.still_there(self.changes.existing)
        try:
            return self.tree.repository
        except GitError as error:
            raise GitError(f"list repository files: {error}") from None
