"""Answer tool calls. Invalid arguments and errors are answered too, with a refusal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.actions.work import Call, Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import fold
from memrepo.core.secrets import concealed, harmless, harmless_data
from memrepo.faces.mcp.calls import ToolCall, acting, nothing
from memrepo.faces.mcp.replies import Reply, one_side, refusal
from memrepo.faces.mcp.tools import Tool

if TYPE_CHECKING:
    from jsonschema import ValidationError

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
