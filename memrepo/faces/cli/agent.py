"""`memrepo agent`: the verb, and the command that its installed hooks run."""

from __future__ import annotations

from memrepo.actions.result import Result
from memrepo.actions.setup.agent import Request
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work

__all__ = ("Request", "do")


class Hooked(Result, frozen=True, kw_only=True):
    """The answer to an event of the agent's program."""

    answer: str


def do(work: Work, request: Request) -> Result:
    """Install or uninstall the hooks, or answer one event of a session."""
    if request.what != "hook":
        return perform(work, "agent", request)
    from memrepo.faces.hosts.hook import hook

    return Hooked(answer=hook(work.call, request.host))
