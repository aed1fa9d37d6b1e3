"""The data of a tool call: the open repository and the validated arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import VerbResult
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work
from memrepo.actions.write.commit import NothingSaid
from memrepo.core.ids import slugify
from memrepo.core.messages import REASON_LENGTH, fold
from memrepo.faces.text import text_of

PROGRAM = "process:"


class Done(NamedTuple):
    """A performed verb: its name, its request and its result."""

    verb: str
    request: Any
    result: VerbResult

    @property
    def data(self) -> dict[str, Any]:
        """Return the result of the verb as JSON-compatible data."""
        return self.result.as_json()

    @property
    def text(self) -> str:
        """Return the result of the verb as a text for people."""
        return text_of(self.verb, self.request, self.result)


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool on an open repository. Its `arguments` match the tool's schema."""

    work: Work
    arguments: Mapping[str, Any]

    def get(self, name: str, default: Any = "") -> Any:
        """Return the value of a tool's argument, or a default if the call omits the argument."""
        return self.arguments.get(name, default)

    def run(self, verb: str, **fields: object) -> Done:
        """Perform a verb. The keyword arguments are the fields of its request."""
        request = VERBS[verb].load().Request(**fields)
        return Done(verb, request, perform(self.work, verb, request))

    def write(self, verb: str, **fields: object) -> Done:
        """Perform a writing verb, and pass it the call's reason and expected commit."""
        reason = fold(self.get("reason"), REASON_LENGTH)
        if not reason:
            raise NothingSaid("the reason")
        call = replace(self.work.call, expect=self.get("expected_commit"))
        with Work(call) as work:
            request = VERBS[verb].load().Request(reason=reason, **fields)
            return Done(verb, request, perform(work, verb, request))


def nothing(_: str) -> None:
    """Ignore a progress message, for clients that did not ask for progress."""


def acting(call: Call, client: str, tick: Callable[[str], None] = nothing) -> Call:
    """Return the context of one tool call: no output, the current time and a program as actor.

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
