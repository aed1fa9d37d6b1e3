"""The door to git for all that no hook, search, status or add waits for: GitPython.

`light` lists the settings that hold for every git, and they are set here once for GitPython's: no
hook, monitor or signer of a clone runs, nothing waits for a person, a path is never a pattern. What
GitPython does not do right, and what its import takes, is in docs/decisions.md.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, cast

import git
from git.exc import GitCommandNotFound

from memrepo.store.git import SETTINGS, GitFailed, NoGit, isolate, verb_of


class Door(git.Git):
    """Git in one folder: `door.rev_list(...)` returns what `git rev-list ...` prints.

    Raises GitFailed where git fails, and where a signal ends it even if no failure is to raise.
    """

    def __init__(self, working_dir: Path | str | None = None) -> None:
        isolate(keep_index=True)
        # Of a text GitPython would expand `$NAME`, which a folder may be called.
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
        """Run git as GitPython does; a text as `istream` is what git reads."""
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
                raise NoGit from None
        if as_process:
            return done
        status, out, err = done
        if status < 0 or (status and with_exceptions):
            raise GitFailed(verb_of(command[1:]), err, status)
        return done if with_extended_output else out


class Found(git.Repo):
    """A repository as GitPython finds it; its git is the door."""

    GitCommandWrapperType = Door  # type: ignore[assignment]

    def __init__(self, path: Path, *, search_parent_directories: bool = False) -> None:
        # A relative path that begins with `~` would be expanded, and so would `$NAME` in any.
        super().__init__(
            path.absolute(),
            search_parent_directories=search_parent_directories,
            expand_vars=False,
        )


def _typed(text: str) -> BinaryIO:
    """Return a file that holds a text: GitPython connects git's standard input to files only."""
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115 - its caller closes it
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return cast("BinaryIO", file)
