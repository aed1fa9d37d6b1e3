"""Tool calls, and replies with a short text and the same content as structured data."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.quotes import span
from memrepo.actions.recall.search import Hit, shortened
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work
from memrepo.actions.write.commit import EmptyText
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import slugify
from memrepo.core.messages import REASON_LENGTH, counted, fold
from memrepo.core.patterns import regex
from memrepo.faces.text import text_of
from memrepo.text.sentences import excerpt, token_count
from memrepo.views.hot import HEAD, fenced

PROGRAM = "process:"


class Done(NamedTuple):
    """A performed verb: its name, its request and its result."""

    verb: str
    request: Any
    result: Any

    @property
    def reason(self) -> str:
        """Return the reason of a write, or an empty string."""
        return str(getattr(self.request, "reason", ""))

    @property
    def data(self) -> dict[str, Any]:
        """Return the result of the verb as JSON-compatible data."""
        found: dict[str, Any] = self.result.as_json()
        return found

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
        """Perform a verb. The keyword arguments are the fields of its request.

        A write needs a reason, and expects the commit that the call names.
        """
        kind = VERBS[verb].load().Request
        if "reason" not in fields:
            request = kind(**fields)
            return Done(verb, request, perform(self.work, verb, request))
        reason = fold(str(fields.pop("reason")), REASON_LENGTH)
        if not reason:
            raise EmptyText("the reason")
        request = kind(reason=reason, **fields)
        with Work(replace(self.work.call, expect=self.get("expected_commit"))) as work:
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


LINE = 200
"""Characters of one memory in the short text."""


class ToolReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply of a tool: a short text, the same content as data, and whether it is a refusal."""

    text: str
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    failed: bool = False

    @property
    def tokens(self) -> int:
        """Return the size of the reply in tokens: its text and its data together."""
        return token_count(self.text + json.dumps(self.data, ensure_ascii=False))


_TOOLS = {
    "search": "memory_search",
    "show": "memory_get",
    "log": "memory_recent",
    "status": "memory_status",
    "forget": "memory_forget",
    "thread": "memory_thread_context",
}
"""Tools that replace the commands in error messages."""
_COMMAND = regex(rf"`memrepo ({'|'.join(_TOOLS)})((?: \w[\w:-]*)?)`")


def refusal(error: MemrepoError) -> ToolReply:
    """Return a reply that reports an error to the client.

    The message is fenced, because it may quote the refused text.
    """
    found = {"message": fenced(fold(error.message, 500)), "exit": int(error.exit_code)}
    fix = fold(_COMMAND.sub(lambda m: f"`{_TOOLS[m[1]]}{m[2]}`", error.fix), 300)
    text = f"refused:\n{found['message']}" + (f"\ntry: {fix}" if fix else "")
    return ToolReply(text=text, data={"error": {**found, "fix": fix}}, failed=True)


class ListItem(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in a list of memories: the data of a memory, and its line in the short text."""

    data: Mapping[str, Any]
    line: str


def hit_entry(hit: Hit, asked: Collection[str] = (), **more: Any) -> ListItem:
    """Convert a hit of a search to an entry of a list.

    A long text is shortened to the part with most of the terms `asked`.
    """
    hit = shortened(hit, asked)
    note = hit.type == "note" and hit.tier not in ("gist", "forgotten")
    shown = excerpt(hit.text, asked, LINE)
    shown = f"{hit.title}: {shown}" if note else shown
    shown = f"[{hit.context}] {shown}" if hit.context and not note else shown
    source = max(hit.sources, key=lambda s: s.captured, default=None)
    found = {
        "id": hit.id,
        "type": hit.type,
        "status": hit.status,
        "standing": hit.standing,
        "trust": hit.trust,
        "confidence": hit.answer_confidence,
        **more,
    }
    if hit.context:
        found["context"] = fenced(hit.context)
    if hit.truncated:
        found["truncated"] = True
    if hit.doubts:
        found["doubts"] = fenced("\n".join(hit.doubts))
    if hit.nearby:
        found["nearby"] = fenced(hit.nearby)
    if hit.later:
        found["later"] = {"source": hit.later.place, "captured": hit.later.captured}
    if source is not None:
        found["source"] = place(source.resource, source.lines)
        found["captured"] = source.captured
        if hit.source_count:
            found["source_count"] = hit.source_count
    more_about = found.get("relation") or found.get("change")
    about = (hit.type, hit.trust, found.get("captured"), more_about)
    line = f"{hit.id} ({', '.join(filter(None, about))}): {fold(shown, 2 * LINE)}"
    line += "".join(f"\n  but {fold(doubt, 2 * LINE)}" for doubt in hit.doubts)
    if hit.nearby and (room := 2 * LINE - len(shown)) > 0:
        line += f"\n  next to it: {fold(hit.nearby, room)}"
    if hit.later:
        later = hit.later
        line += f"\n  later: {later.captured} {fold(later.text, LINE)} ({fold(later.place, LINE)})"
    return ListItem(data={**found, "text": fenced(hit.text)}, line=line)


def place(resource: str, lines: Sequence[int]) -> str:
    """Format a file and a line range. The file name is quoted because its text is not trusted."""
    return quote(resource) + span(lines)


def listing(found: Sequence[ListItem], commit: str, max_tokens: int, more: int = 0) -> ToolReply:
    """Return a reply that lists, in order, the pieces that fit into a number of tokens.

    A piece that does not fit is skipped, so that later ones may fit. `more` is the number of pieces
    that the caller omitted.
    """
    kept: list[ListItem] = []
    for piece in found:
        if _listing([*kept, piece], commit, len(found) + more).tokens <= max_tokens:
            kept.append(piece)
    return _listing(kept, commit, len(found) + more)


def _listing(kept: Sequence[ListItem], commit: str, every: int) -> ToolReply:
    left_out = every - len(kept)
    data = {"commit": commit, "notice": HEAD, "hits": [p.data for p in kept], "left_out": left_out}
    lines = ["nothing found" if not every else "nothing fits"]
    if kept:
        head = counted(len(kept), "memory", "memories")
        lines = [f"{head}, as of commit {commit[:10]}. {HEAD}"]
        lines.append(fenced("\n".join(p.line for p in kept)))
    if left_out:
        lines.append(f"{left_out} more: raise limit or max_tokens, or memory_get one by its id")
    return ToolReply(text="\n".join(lines), data=data)


def longest(text: str, max_tokens: int, build: Callable[[str], ToolReply]) -> ToolReply:
    """Call `build` with ever shorter prefixes of a text, and return the longest reply that fits."""
    whole = build(text)
    if whole.tokens <= max_tokens:
        return whole
    sizes = range(1, len(text) + 1)
    fitting = bisect_right(sizes, max_tokens, key=lambda size: build(text[:size]).tokens)
    return build(text[:fitting])
