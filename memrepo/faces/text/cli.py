"""Text output of commands that are not verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrepo.faces.cli import completion as completing
    from memrepo.faces.cli import demo as touring
    from memrepo.faces.cli import review as reviewing


def completion(request: object, result: completing.Result, *, colour: bool) -> str:
    """Return the completion script."""
    return result.script.rstrip("\n")


def demo(request: object, result: touring.Result, *, colour: bool) -> str:
    """Return the closing line of the tour."""
    kept = f"the repository is in {result.kept}" if result.kept else "the demo folder was removed"
    return f"\nThat was the tour; {kept}."


def mcp(request: object, result: object, *, colour: bool) -> str:
    """Return an empty string, because the client received all output."""
    del request, result, colour
    return ""


def review(request: object, result: reviewing.Result, *, colour: bool) -> str:
    """Return a closing line for a review, or an empty string.

    The review already printed each performed command.
    """
    if not result.decisions:
        return "it contains no decision for a person"
    return "" if result.waits or result.open or result.done else "every decision has an answer"


def serve(request: object, result: object, *, colour: bool) -> str:
    """Return an empty string, because the pages showed all output."""
    del request, result, colour
    return ""
