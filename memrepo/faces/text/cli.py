"""Format the results of commands that are not verbs."""

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
    """Format the last line of the tour, which follows the steps already printed."""
    kept = f"the repository is in {result.kept}" if result.kept else "the demo folder was removed"
    return f"\nThat was the tour; {kept}."


def mcp(request: object, result: object, *, colour: bool) -> str:
    """Return an empty string. The MCP client already received all output."""
    del request, result, colour
    return ""


def review(request: object, result: reviewing.Result, *, colour: bool) -> str:
    """Format the last line of a review, or return an empty string.

    The review already printed each performed command.
    """
    if not result.decisions:
        return "it contains no decision for a person"
    return "" if result.waits or result.open or result.done else "every decision has an answer"


def serve(request: object, result: object, *, colour: bool) -> str:
    """Return an empty string. The web pages already showed all output."""
    del request, result, colour
    return ""
