"""`memrepo agent`: the verb, and what the hooks that it installs call."""

from __future__ import annotations

from memrepo.actions.result import Result
from memrepo.actions.setup.agent import Request
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work

__all__ = ("Request", "do")


class Hooked(Result, frozen=True, kw_only=True):
    """What the agent's program is answered."""

    answer: str


def do(work: Work, request: Request) -> Result:
    """Install, uninstall, or answer one event of a session."""
    if request.what != "hook":
        return perform(work, "agent", request)
    from memrepo.faces.hosts.hook import hook

    return Hooked(answer=hook(work.call, request.host))
