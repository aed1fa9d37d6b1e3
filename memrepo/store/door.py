"""Access to git through GitPython, for commands that are not time-critical.

Hooks, searches, the status command and single writes use `git.Git` instead. The settings of
`store.git` are applied to GitPython's git too: no hook, monitor or signer of a clone runs, nothing
prompts, and paths are never patterns. docs/decisions.md lists GitPython's defects and its import
time.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

import git
from git.exc import GitCommandNotFound

from memrepo.store.errors import StoreError
from memrepo.store.git import SETTINGS, GitFailed, isolate, verb_of


class Door(git.Git):
    """Git in one folder. A call like `door.rev_list(...)` returns the output of `git rev-list ...`.

    Raises GitFailed if git fails. After a signal, GitFailed is raised in any case.
    """

    def __init__(self, working_dir: Path | str | None = None) -> None:
        isolate(keep_index=True)
        # GitPython would expand `$NAME` in a str, but a folder may have such a name.
        super().__init__(Path(working_dir) if working_dir is not None else None)
        self.set_persistent_git_options(c=SETTINGS)
        self.update_environment(GIT_LITERAL_PATHSPECS="1")

    def execute(  # type: ignore[override]
        self,
        command: list[str],
        istream: BinaryIO | int | str | None = None,
        *,
        with_extended_output: bool = False,
        with_exceptions: bool = True,
        as_process: bool = False,
        **options: object,
    ) -> Any:
        """Run a git command as GitPython does. A string `istream` becomes git's standard input."""
        with ExitStack() as opened:
            if isinstance(istream, str):
                istream = opened.enter_context(_typed(istream))
            try:
                done = super().execute(
                    command,
                    istream,
                    with_extended_output=True,
                    with_exceptions=False,
                    as_process=as_process,
                    **options,  # type: ignore[call-overload]
                )
            except GitCommandNotFound:
                raise StoreError("no-git") from None
        if as_process:
            return done
        status, out, err = done
        if status < 0 or (status and with_exceptions):
            raise GitFailed(verb_of(command[1:]), err, status)
        return done if with_extended_output else out


class GitPythonRepo(git.Repo):
    """A repository located by GitPython. Its git commands run through Door."""

    GitCommandWrapperType = Door  # type: ignore[assignment]

    def __init__(self, path: Path, *, search_parent_directories: bool = False) -> None:
        # A relative path that begins with `~` would be expanded, and so would `$NAME` in any path.
        super().__init__(
            path.absolute(),
            search_parent_directories=search_parent_directories,
            expand_vars=False,
        )


def _typed(text: str) -> BinaryIO:
    """Return a temporary file with a text. GitPython can read standard input from files only."""
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115 - its caller closes it
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return cast("BinaryIO", file)
