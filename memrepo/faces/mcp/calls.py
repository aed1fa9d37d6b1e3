"""One call of a tool: the session it runs in, and the arguments that were checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work
from memrepo.actions.write.commit import NothingSaid
from memrepo.core.ids import slugify
from memrepo.core.messages import REASON_LENGTH, fold
from memrepo.faces.text import text_of

PROGRAM = "process:"


class Done(NamedTuple):
    """What a verb answered to a request."""

    verb: str
    request: Any
    result: Result

    @property
    def data(self) -> dict[str, Any]:
        """Return the answer as JSON can hold it."""
        return self.result.as_json()

    @property
    def text(self) -> str:
        """Return the answer as a person reads it."""
        return text_of(self.verb, self.request, self.result)


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call on the open repository; `arguments` fit the tool's schema."""

    work: Work
    arguments: Mapping[str, Any]

    def get(self, name: str, default: Any = "") -> Any:
        """Return an argument, or what it is when left out."""
        return self.arguments.get(name, default)

    def run(self, verb: str, **fields: object) -> Done:
        """Do what a verb does, for a request of these fields."""
        request = VERBS[verb].load().Request(**fields)
        return Done(verb, request, perform(self.work, verb, request))

    def write(self, verb: str, **fields: object) -> Done:
        """Do what a verb does that writes, for the reason that the call names."""
        reason = fold(self.get("reason"), REASON_LENGTH)
        if not reason:
            raise NothingSaid("the reason")
        call = replace(self.work.call, expect=self.get("expected_commit"))
        with Work(call) as work:
            request = VERBS[verb].load().Request(reason=reason, **fields)
            return Done(verb, request, perform(work, verb, request))


def nothing(_: str) -> None:
    """Ignore the progress."""


def acting(call: Call, client: str, tick: Callable[[str], None] = nothing) -> Call:
    """Return the session of one call: quiet, at the time of now, and of a program.

    What takes long tells `tick` how far it is.

    A tool never acts for a person, whatever the environment or the client's name says.
    """
    actor = call.actor
    if not actor.startswith(PROGRAM):
        actor = PROGRAM + (slugify(client)[:40].strip("-") if client.strip() else "mcp")
    now = call.clock() if call.clock else call.now
    return replace(
        call,
        now=now,
        actor=actor,
        json=True,
        quiet=True,
        colour=False,
        say=nothing,
        tick=tick,
        read=str,
    )
