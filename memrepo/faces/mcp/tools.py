"""The tools: their schemas and descriptions, and how a call is answered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import choices_of
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Call, Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import fold
from memrepo.core.secrets import concealed, harmless, harmless_data
from memrepo.faces.mcp import handlers
from memrepo.faces.mcp.handlers import MAX_TOKENS, report
from memrepo.faces.mcp.replies import Done, Reply, ToolCall, acting, nothing, one_side, refusal
from memrepo.views.hot import fenced

if TYPE_CHECKING:
    from jsonschema import ValidationError

Given = Mapping[str, Any]


def store(call: ToolCall) -> Reply:
    """Store one or several memories, each in its own commit.

    For a repetition, return the id of the existing memory.
    """
    entries = [dict(entry) for entry in call.get("memories", ())]
    if not entries:
        return _written(_add(call, call.arguments))
    if call.get("text"):
        entries.insert(0, {"text": call.get("text")})
    return _several(call, entries)


def _add(call: ToolCall, said: Given) -> Done:
    return call.write(
        "add",
        text=said.get("text", ""),
        type=said.get("type") or call.get("type", "fact"),
        cls=call.get("decay_class"),
        tags=tuple(said.get("tags") or call.get("tags", ())),
        valid_until=call.get("valid_until"),
    )


def _several(call: ToolCall, entries: Sequence[Given]) -> Reply:
    """Store several memories in order. If one is refused, continue with the next one.

    With `expected_commit`, the first write expects that commit, and each further write expects the
    previous one.
    """
    told, stored, commit = list[str](), list[Given](), ""
    for number, entry in enumerate(entries, 1):
        call.work.call.tick(f"{number} of {len(entries)}")
        try:
            one = _written(_add(call, entry))
        except MemrepoError as error:
            one = refusal(error)
            stored.append({"refused": one.data["error"]["message"]})
        else:
            stored.append(one.data)
            if one.data["commit"]:
                commit = one.data["commit"]
                call = _after(call, commit)
        told.append(f"{number}. {one.text}")
    ids = [one["id"] for one in stored if "id" in one]
    return Reply(
        text="\n".join(told),
        data={"id": ids[0] if ids else "", "commit": commit, "stored": stored},
        failed=not ids,
    )


def _after(call: ToolCall, commit: str) -> ToolCall:
    if not call.get("expected_commit"):
        return call
    return replace(call, arguments={**call.arguments, "expected_commit": commit})


def supersede(call: ToolCall) -> Reply:
    """Replace a memory with a newer statement.

    The old memory stays in history but not in recall.
    """
    return _written(call.write("supersede", id=call.get("id"), text=call.get("text")))


def forget(call: ToolCall) -> Reply:
    """Remove a memory from recall, but keep its file and its history."""
    return _written(call.write("forget", id=call.get("id")))


def restore(call: ToolCall) -> Reply:
    """Restore a memory, either in place of its successor or in addition to its successor."""
    how = {call.get("how"): True} if call.get("how") else {}
    return _written(call.write("restore", id=call.get("id"), **how))


def accept(call: ToolCall) -> Reply:
    """Accept all or some decisions of a pending run."""
    answer = call.write(
        "accept",
        run=call.get("run"),
        only=tuple(call.get("only", ())),
        without=tuple(call.get("except", ())),
    )
    return report(answer, MAX_TOKENS)


def revert(call: ToolCall) -> Reply:
    """Revert a run, a commit, or the last decision about a memory."""
    return report(call.write("revert", target=call.get("target")), MAX_TOKENS)


def _written(done: Done) -> Reply:
    data, notices = done.data, done.result.notices
    found = {k: data[k] for k in ("id", "commit")}
    unchanged = str(data.get("unchanged", ""))
    text = (
        f"{data['id']} {unchanged}{'' if 'waits' in data else ': nothing written'}"
        if unchanged
        else (f"{data['op']} {data['id']} in commit {found['commit'][:10]}")
    )
    more = {"unchanged": unchanged} if unchanged else {}
    if notices:
        noticed = fenced("\n".join(str(p) for p in notices[:5]))
        return Reply(text=f"{text}\n{noticed}", data={**found, **more, "noticed": noticed})
    return Reply(text=text, data={**found, **more})


Schema = dict[str, object]

LONGEST = {"text": 8000, "reason": 500, "words": 1000}
"""Maximum characters of an argument, by field. Other fields have at most 100."""
_PATTERNS = {
    "since": "^[0-9A-Za-z:+-]{1,40}$",
    "id": r"^[\w:-]{1,100}$",
    "run": r"^[\w-]{1,100}$",
    "target": r"^[\w:-]{1,100}$",
    "at": "^[0-9A-Za-z:+-]{1,40}$",
}
"""Patterns of names by field. A name must not be mistaken for a path, an option or a git
expression."""
_MOST = {"limit": 50, "depth": 5}
_BOUNDS = ("additionalProperties", "maxItems", "maxLength", "maximum", "minimum", "pattern")
"""Keys of a schema that are only used for validation. A refusal reports them if violated."""


class Argument(NamedTuple):
    """An argument of a tool, and the field of the verb's request that it sets."""

    name: str
    field: str = ""
    says: str = ""
    required: bool = False
    one: bool = False
    """Whether the argument is a single text although the field is a list."""


class Tool(NamedTuple):
    """A tool: its name, verb, arguments, output and implementation."""

    name: str
    title: str
    """The title for people, which some clients also search."""
    verb: str
    description: str
    """What the tool does, in the words that users of an agent use."""
    answer: Callable[[ToolCall], Reply]
    takes: tuple[Argument, ...] = ()
    own: Mapping[str, Schema] = {}
    """Arguments that are not fields of the request."""
    gives: Mapping[str, Any] = {}
    """The keys that every output has, and their types."""
    destructive: bool = False
    idempotent: bool = True
    looks: bool = False
    """Whether the tool only reads although its verb may write."""

    @property
    def writes(self) -> bool:
        """Return whether the tool writes to the history of the repository."""
        return VERBS[self.verb].writes and not self.looks

    @property
    def required(self) -> tuple[str, ...]:
        """Return the names of the required arguments."""
        return tuple(a.name for a in self.takes if a.required)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the names of all arguments."""
        return (*(a.name for a in self.takes), *self.own)

    def listed_schema(self) -> Schema:
        """Return a short JSON Schema for the list of tools. It omits limits to save context."""
        return {
            key: _unbound(part) for key, part in self.input_schema().items() if key not in _BOUNDS
        }

    def input_schema(self) -> Schema:
        """Return the complete JSON Schema, which validates the arguments of each call."""
        hints = get_type_hints(VERBS[self.verb].load().Request, include_extras=True)
        return {
            "type": "object",
            "properties": {
                **{a.name: _schema(a, hints[a.field or a.name]) for a in self.takes},
                **self.own,
            },
            "additionalProperties": False,
            **({"required": list(self.required)} if self.required else {}),
        }

    def output_schema(self) -> Schema:
        """Return the JSON Schema of the tool's structured output. Every key is required."""
        properties = {name: msgspec.json.schema(kind) for name, kind in self.gives.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def annotations(self) -> dict[str, bool]:
        """Return the MCP annotations of the tool. No tool reaches beyond the repository."""
        hints = {"readOnlyHint": not self.writes, "openWorldHint": False}
        if self.writes:
            hints |= {"destructiveHint": self.destructive, "idempotentHint": self.idempotent}
        return hints


def _unbound(schema: object) -> object:
    """Return a JSON Schema without the rules that only matter for validation."""
    if isinstance(schema, list):
        return [_unbound(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _unbound(part) for key, part in schema.items() if key not in _BOUNDS}


def _schema(argument: Argument, hint: object) -> Schema:
    """Derive the JSON Schema of an argument from the type and the option of a request's field."""
    type_, meta = get_args(hint)
    field = argument.field or argument.name
    kinds = [kind for kind in get_args(type_) if kind is not type(None)]
    several = getattr(type_, "__origin__", None) is tuple
    found = msgspec.json.schema(kinds[0] if several or type(None) in get_args(type_) else type_)
    if choices := choices_of(type_, meta):
        found["enum"] = list(choices)
    elif found.get("type") == "string" and field in _PATTERNS:
        found["pattern"] = _PATTERNS[field]
    elif found.get("type") == "string" and "enum" not in found:
        found["maxLength"] = LONGEST.get(field, 100)
    if found.get("type") == "integer":
        found |= {"minimum": int(meta.ge or 1), "maximum": _MOST.get(field, 20000)}
    if several and not argument.one:
        found = {"type": "array", "items": found}
    if argument.says:
        found["description"] = argument.says
    return found


_ID = Argument("id", required=True)
_REASON = Argument("reason", required=True)
_AT = Argument("at", says="as of a commit or date")
_EXPECTED: Mapping[str, Schema] = {
    "expected_commit": {
        "type": "string",
        "pattern": "^[0-9a-f]{7,64}$",
    }
}
_MAX_TOKENS: Mapping[str, Schema] = {
    "max_tokens": {
        "type": "integer",
        "minimum": 200,
        "maximum": 20000,
    }
}
_IDS: Schema = {
    "type": "array",
    "items": {"type": "string", "pattern": _PATTERNS["id"]},
    "maxItems": 20,
}
_TEXT: Schema = {"type": "string", "maxLength": 100}
_MEMORIES: Schema = {
    "type": "array",
    "description": "several instead of text",
    "maxItems": 50,
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": LONGEST["text"]},
            "type": _TEXT,
            "tags": {"type": "array", "items": _TEXT},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
}
_LIMIT: Mapping[str, Schema] = {"limit": {"type": "integer", "minimum": 1, "maximum": 50}}
_HITS: Mapping[str, object] = {"hits": list}
_WRITTEN: Mapping[str, object] = {"id": str, "commit": str}
_REPORT: Mapping[str, object] = {"exit": int, "report": str}

DEFAULT = (
    Tool(
        name="memory_search",
        title="Search memory",
        verb="search",
        answer=handlers.search,
        description=(
            "Recall, look up or find what is known of a person, preference or past."
            " Do so before answering."
        ),
        takes=(
            Argument("query", "words", required=True, one=True),
            Argument("types"),
            _AT,
            Argument("limit"),
        ),
        own=_MAX_TOKENS,
        gives=_HITS,
    ),
    Tool(
        name="memory_get",
        title="Open a memory",
        verb="show",
        answer=handlers.get,
        description="Open one memory by id or slug, or several, with evidence.",
        takes=(Argument("id"), _AT),
        own={"ids": _IDS, **_MAX_TOKENS},
        gives={"commit": str},
    ),
    Tool(
        name="memory_store",
        title="Remember",
        verb="add",
        answer=store,
        description="Remember, save or note a lasting fact or preference; none is stored twice.",
        takes=(
            Argument("text"),
            _REASON,
            Argument("type"),
            Argument(
                "decay_class",
                "cls",
                says="permanent, durable, normal: kept; short 2d, ephemeral 4h",
            ),
            Argument("tags"),
            Argument("valid_until", says="date"),
        ),
        own={"memories": _MEMORIES, **_EXPECTED},
        gives=_WRITTEN,
    ),
    Tool(
        name="memory_supersede",
        title="Correct a memory",
        verb="supersede",
        answer=supersede,
        description="Update or correct a memory by what holds now; history keeps the old.",
        takes=(_ID, Argument("text", required=True), _REASON),
        own=_EXPECTED,
        gives=_WRITTEN,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_forget",
        title="Forget",
        verb="forget",
        answer=forget,
        description="Forget, delete or remove a memory; history keeps it.",
        takes=(_ID, _REASON),
        own=_EXPECTED,
        gives=_WRITTEN,
        destructive=True,
    ),
    Tool(
        name="memory_recent",
        title="Lately",
        verb="recent",
        answer=handlers.recent,
        description="What is new or changed lately.",
        takes=(Argument("since", says="date or run"), Argument("limit")),
        own=_MAX_TOKENS,
        gives=_HITS,
    ),
    Tool(
        name="memory_hot",
        title="First page",
        verb="session",
        answer=handlers.hot,
        looks=True,
        description="What to know when a session begins.",
        takes=(Argument("max_tokens"),),
        gives={"commit": str, "text": str},
    ),
    Tool(
        name="memory_related",
        title="Related",
        verb="related",
        answer=handlers.related,
        description="Linked memories, and what replaced what.",
        takes=(_ID, Argument("depth")),
        own={**_LIMIT, **_MAX_TOKENS},
        gives=_HITS,
    ),
    Tool(
        name="memory_thread_context",
        title="Conversation",
        verb="thread",
        answer=handlers.thread_context,
        description="What was kept of a memory's conversation.",
        takes=(_ID,),
        own={**_LIMIT, **_MAX_TOKENS},
        gives=_HITS,
    ),
    Tool(
        name="memory_status",
        title="Status",
        verb="status",
        answer=handlers.status,
        description="Counts, newest commit, what waits for a person.",
        gives={"commit": str, "memories": dict},
    ),
)
"""The tools for every client."""


def _report(verb: str, field: str = "", **fixed: object) -> Callable[[ToolCall], Reply]:
    def answer(call: ToolCall) -> Reply:
        given = {field: (call.get("run"),), **fixed} if field and call.get("run") else fixed
        return handlers.report(call.run(verb, **given), call.get("max_tokens", 4000))

    return answer


ADMIN = (
    Tool(
        name="memory_runs",
        title="Runs",
        verb="log",
        answer=_report("log", runs=True),
        description="Runs in effect and runs that wait for review.",
        own=_MAX_TOKENS,
        gives=_REPORT,
    ),
    Tool(
        name="memory_diff",
        title="Changes of a run",
        verb="diff",
        answer=_report("diff", "words"),
        description="The memories that a run changes; the waiting run when left out.",
        takes=(Argument("run", "words", one=True),),
        own=_MAX_TOKENS,
        gives=_REPORT,
    ),
    Tool(
        name="memory_accept",
        title="Accept a run",
        verb="accept",
        answer=accept,
        description="Let a waiting run take effect; only, or all except, these memory ids.",
        takes=(
            Argument("run", required=True),
            _REASON,
            Argument("only"),
            Argument("except", "without"),
        ),
        own=_EXPECTED,
        gives=_REPORT,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_revert",
        title="Revert",
        verb="revert",
        answer=revert,
        description="Revert a run, a commit, or the last decision about a memory.",
        takes=(Argument("target", required=True), _REASON),
        own=_EXPECTED,
        gives=_REPORT,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_restore",
        title="Restore a memory",
        verb="restore",
        answer=restore,
        description="Bring a memory back; a superseded one instead of its successor or with it.",
        takes=(_ID, _REASON),
        own={"how": {"enum": ["instead", "beside"]}, **_EXPECTED},
        gives=_WRITTEN,
    ),
    Tool(
        name="memory_doctor",
        title="Check memory",
        verb="doctor",
        answer=_report("doctor"),
        description="Checks of repository, index, hooks and judge.",
        own=_MAX_TOKENS,
        gives=_REPORT,
    ),
)
"""Additional tools of `--toolset admin`: review and repair."""


_LOG = logging.getLogger("memrepo")


class Unfit(MemrepoError):
    """Raised when the arguments of a call do not match the tool's schema."""

    exit_code = Exit.USAGE

    def __init__(self, tool: Tool, where: str, what: str) -> None:
        super().__init__(
            f"{tool.name}: {where}{what}",
            fix=f"{tool.name} takes {', '.join(tool.arguments) or 'nothing'}; "
            f"it needs {', '.join(tool.required) or 'nothing'}",
        )


def answer(
    call: Call,
    tool: Tool,
    arguments: Mapping[str, object],
    client: str = "",
    tick: Callable[[str], None] = nothing,
) -> Reply:
    """Run a tool for one call of a client. A refusal explains how to correct the call."""
    try:
        _refuse_unfit(tool, arguments)
        with Work(acting(call, client, tick)) as work:
            reply = tool.answer(ToolCall(work=work, arguments=arguments))
        text, data = concealed([reply.text, reply.data])
        text, data = harmless(text), harmless_data(data)
        return one_side(replace(reply, text=text, data=data), client)
    except MemrepoError as error:
        reply = refusal(error)
        return replace(reply, text=harmless(reply.text), data=harmless_data(reply.data))
    except Exception as error:  # noqa: BLE001 - a bug in one call must not end the session
        _LOG.error("a bug in %s", tool.name, exc_info=error)
        said = f"a bug: {type(error).__name__}"
        told = {"message": said, "exit": int(Exit.BUG)}
        return Reply(text=said, data={"error": told}, failed=True)


def _refuse_unfit(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Raise Unfit if an argument violates the tool's schema. The message omits the value."""
    from jsonschema import Draft202012Validator

    wrong = next(Draft202012Validator(tool.input_schema()).iter_errors(dict(arguments)), None)
    if wrong is not None:
        where = "".join(f"{part}: " for part in wrong.absolute_path)
        raise Unfit(tool, where, fold(_in_words(wrong), 300))
    for name, value in arguments.items():
        if not all(map(_is_text, _texts(value))):
            raise Unfit(tool, f"{name}: ", "found a NUL or half of a character: no file holds it")


def _in_words(wrong: ValidationError) -> str:
    """Describe a violated rule of a schema, but not the value, which may be long or secret."""
    most = wrong.validator_value
    match wrong.validator:
        case "enum":
            return f"expected one of {', '.join(map(str, most))}"
        case "maxLength" | "maxItems":
            what = "characters" if wrong.validator == "maxLength" else "entries"
            return f"found {len(wrong.instance)} {what}, expected at most {most}"
        case rule:
            return wrong.message if len(wrong.message) < 120 else f"expected {rule} {most}"


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for part in value:
                yield from _texts(part)
        case dict():
            yield from _texts([*value.values()])


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
