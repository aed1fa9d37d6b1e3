"""`memrepo agent`: install hooks for an agent's program, and answer the hooks' calls."""

from __future__ import annotations

from memrepo.actions.request import VerbResult
from memrepo.actions.setup.agent import Request
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work

__all__ = ("Request", "do")


class Hooked(VerbResult, frozen=True, kw_only=True):
    """The text that memrepo answers to an event of the agent's program."""

    answer: str


def do(work: Work, request: Request) -> VerbResult:
    """Install or uninstall the hooks of an agent's program, or answer one event of a session."""
    if request.what != "hook":
        return perform(work, "agent", request)
    from memrepo.faces.hosts.hook import hook

    return Hooked(answer=hook(work.call, request.host))
