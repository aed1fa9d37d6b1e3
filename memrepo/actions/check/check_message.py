"""`memrepo check-message`: refuse messages with memrepo trailers, in the commit-msg hook."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.checks.by_hand import message_problems
from memrepo.core.errors import Exit, UsageError
from memrepo.core.problems import Problem


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo check-message`."""

    file: Annotated[str, option("the message, as git hands it to its hook", metavar="FILE")]


class Result(result.Result, frozen=True, kw_only=True):
    """The problems found in the message."""

    problems: tuple[Problem, ...]


def do(work: Work, request: Request) -> Result:
    """Check a message. Exit with status 1 if it contains memrepo trailers or a secret."""
    path = work.call.where / request.file
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"memrepo check-message: {request.file}: {error.strerror}",
            fix="name the file that holds the message",
        ) from error
    found = tuple(message_problems(request.file, text))
    return Result(problems=found, exit=Exit.NO if found else Exit.DONE)
