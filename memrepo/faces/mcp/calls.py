"""A tool call: its context in the repository and its validated arguments."""

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
    """A verb, its request and its result."""

    verb: str
    request: Any
    result: Result

    @property
    def data(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""
        return self.result.as_json()

    @property
    def text(self) -> str:
        """Return the result as text for a person."""
        return text_of(self.verb, self.request, self.result)


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call on an open repository. The `arguments` match the tool's schema."""

    work: Work
    arguments: Mapping[str, Any]

    def get(self, name: str, default: Any = "") -> Any:
        """Return the value of an argument, or a default if the call omits it."""
        return self.arguments.get(name, default)

    def run(self, verb: str, **fields: object) -> Done:
        """Perform a verb with a request of these fields."""
        request = VERBS[verb].load().Request(**fields)
        return Done(verb, request, perform(self.work, verb, request))

    def write(self, verb: str, **fields: object) -> Done:
        """Perform a verb that writes, with the reason and the expected commit of the call."""
        reason = fold(self.get("reason"), REASON_LENGTH)
        if not reason:
            raise NothingSaid("the reason")
        call = replace(self.work.call, expect=self.get("expected_commit"))
        with Work(call) as work:
            request = VERBS[verb].load().Request(reason=reason, **fields)
            return Done(verb, request, perform(work, verb, request))


def nothing(_: str) -> None:
    """Ignore a progress message."""


def acting(call: Call, client: str, tick: Callable[[str], None] = nothing) -> Call:
    """Return the context of one call: quiet, at the current time, with a program as actor.

    `tick` receives progress messages. The actor is never a person, regardless of the environment
    and of the client's name.
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
