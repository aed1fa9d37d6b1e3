"""The parsers of the command line, derived from the fields of each verb's request.

The module of a verb is imported when the command line names the verb. Its dependencies are imported
when the verb runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_origin, get_type_hints

from memrepo import __version__
from memrepo.actions.verbs import GROUPS as ACTIONS
from memrepo.actions.verbs import VERBS, perform, read_verbs
from memrepo.core.errors import UsageError

if TYPE_CHECKING:
    from memrepo.actions.work import Option, VerbResult, Work

_OWN = read_verbs(Path(__file__).with_name("commands.txt"), "memrepo.faces")
"""Commands that are not verbs, because they need a terminal, a parser or a process."""

GROUPS = {group: (*verbs, *_OWN.get(group, ())) for group, verbs in ACTIONS.items()}
COMMANDS = {verb.name: verb for group in GROUPS.values() for verb in group}
COMMANDS["agent"] = COMMANDS["agent"]._replace(
    module="memrepo.faces.cli.commands", request="AgentRequest"
)

argparse._ = str  # type: ignore[attr-defined]
"""Disable translation in `argparse`, which searches many folders for each of its messages."""
_DRAFT = partial(argparse.HelpFormatter, width=80)
"""The formatter while options are declared. `argparse` formats each option once, and would query
the terminal width each time, which is slow. Printed help uses the full width."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of exiting the process."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with a message about invalid arguments."""
        raise UsageError(f"{self.prog}: {message}", self.format_usage())


def globals_parser() -> Parser:
    """Return a parser for the global options. It leaves all other arguments unparsed."""
    parser = Parser(
        prog="memrepo",
        usage="memrepo [-C DIR] [--now TIME] [--json] [-q] [--no-color] COMMAND ...",
        description="An agent's memory as plain markdown files in a git repository.",
        epilog=f"{listing(everyday=True)}\n\n`memrepo help --all` lists every command,"
        " `memrepo COMMAND --help` explains one.",
        formatter_class=_DRAFT,
    )
    parser.add_argument("--version", action="version", version=f"memrepo {__version__}")
    add_globals(parser, defaults=True)
    # A single positional argument takes the whole rest. A second one would remove `--` from it.
    parser.add_argument("line", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def listing(*, everyday: bool = False) -> str:
    """Return a text that lists the commands by group: all commands, or only everyday ones."""
    groups = {
        group: [verb for verb in verbs if verb.everyday or not everyday]
        for group, verbs in GROUPS.items()
    }
    width = max(len(verb.name) for verbs in groups.values() for verb in verbs)
    parts = [
        "\n".join([f"{group}:", *(f"  {verb.name:<{width}}  {verb.says}" for verb in verbs)])
        for group, verbs in groups.items()
        if verbs
    ]
    return "\n\n".join(parts)


def add_globals(parser: argparse.ArgumentParser, *, defaults: bool) -> None:
    """Declare the global options on a parser.

    Without `defaults`, an omitted option leaves the value unchanged.
    """
    group = parser.add_argument_group("global options")
    flag: dict[str, Any] = {"action": "store_true"}
    table: tuple[tuple[tuple[str, ...], dict[str, Any], str], ...] = (
        (
            ("-C",),
            {"dest": "folder", "metavar": "DIR"},
            "run in DIR instead of the current folder",
        ),
        (("--now",), {"metavar": "TIME"}, "use this RFC 3339 time instead of the clock"),
        (("--json",), flag, "print one JSON object"),
        (("-q", "--quiet"), flag, "print nothing but errors"),
        (("--no-color",), flag, "print no colours (as with NO_COLOR)"),
    )
    for names, settings, help_ in table:
        default: object = False if settings is flag else ""
        group.add_argument(
            *names, default=default if defaults else argparse.SUPPRESS, help=help_, **settings
        )


def command_parser(name: str) -> Parser:
    """Return the parser for the arguments of one command.

    Raise UsageError with a suggestion for an unknown command.
    """
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        raise UsageError(
            f"memrepo: {name!r} is not a command",
            fix=f"did you mean {near[0]}?" if near else "`memrepo help --all` lists them",
        )
    verb = COMMANDS[name]
    parser = Parser(
        prog=f"memrepo {name}",
        description=f"{verb.says.capitalize()}.",
        formatter_class=_DRAFT,
    )
    add_fields(parser, verb.load().Request)
    add_globals(parser, defaults=False)
    parser.formatter_class = argparse.HelpFormatter
    return parser


def add_fields(parser: argparse.ArgumentParser, request: Any) -> None:
    """Declare an argument for each field of a request."""
    hints = get_type_hints(request, include_extras=True)
    groups: dict[str, Any] = {}
    for name in request.__struct_fields__:
        type_, meta = get_args(hints[name])
        known: Option = meta.extra["option"]
        where: Any = parser
        if known.group:
            if known.group not in groups:
                groups[known.group] = parser.add_mutually_exclusive_group()
            where = groups[known.group]
        says = (meta.description or "").replace("%", "%%")
        where.add_argument(
            *(known.flags or (name,)),
            help=says,
            **_settings(name, type_, known, meta, _default(request, name)),
        )


_REQUIRED = object()


def _default(request: Any, name: str) -> Any:
    """Return the default of a request's field, or `_REQUIRED` if the field has no default."""
    after = len(request.__struct_fields__) - len(request.__struct_defaults__)
    at = request.__struct_fields__.index(name) - after
    import msgspec

    found = request.__struct_defaults__[at] if at >= 0 else msgspec.NODEFAULT
    return _REQUIRED if found is msgspec.NODEFAULT else found


def _settings(name: str, type_: Any, known: Option, meta: Any, default: Any) -> dict[str, Any]:
    """Return the keyword arguments with which argparse's `add_argument` declares a field."""
    from memrepo.actions.work import choices_of

    if type_ is bool:
        return {"dest": name, "action": "store_true"}
    found: dict[str, object] = {}
    if known.metavar:
        found["metavar"] = known.metavar
    if choices := choices_of(type_, meta):
        found["choices"] = choices
    if reader := known.read or _reader(type_, meta):
        found["type"] = _reading(reader)
    if get_origin(type_) is tuple:
        if known.rest:
            found["nargs"] = argparse.REMAINDER
        elif not known.flags or known.several:
            found["nargs"] = "+" if known.least or known.several else "*"
            if known.flags:
                found["action"] = "extend"
        else:
            found["action"] = "append"
    elif not known.flags and default is not _REQUIRED:
        found["nargs"] = "?"
    elif known.optional:
        found |= {"nargs": "?", "const": known.const}
    if known.flags:
        found |= {"dest": name, "required": default is _REQUIRED}
    found["default"] = None if default is _REQUIRED or default == () else default
    return found


def _reader(type_: Any, meta: Any) -> Any:
    """Return a function that parses a numeric field and checks its bounds, or None for a text."""
    kinds = (type_, *get_args(type_))
    kind = int if int in kinds else float if float in kinds else None
    if kind is None:
        return None

    def read(text: str) -> object:
        value = kind(text)
        low, high = meta.ge, meta.le
        if not (low is None or value >= low) or not (high is None or value <= high):
            what = "a whole number" if kind is int else "a number"
            bounds = f"from {low}" + (f" to {high}" if high is not None else "")
            raise argparse.ArgumentTypeError(f"found {text}, expected {what} {bounds}")
        if value != value or value in (float("inf"), float("-inf")):
            raise argparse.ArgumentTypeError(f"found {text}, expected a number")
        return value

    read.__name__ = kind.__name__
    return read


def _reading(read: Any) -> Any:
    """Wrap a parsing function so that argparse prints the message of a raised ValueError."""

    def reading(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            if not error.args or read.__name__ in ("int", "float"):
                raise
            raise argparse.ArgumentTypeError(str(error)) from error

    reading.__name__ = read.__name__
    return reading


def parse(
    name: str, words: list[str], options: argparse.Namespace | None = None
) -> argparse.Namespace:
    """Return the parsed arguments of a command, whose options may be between its arguments."""
    parser = command_parser(name)
    # After `--`, argparse drops arguments that begin with a hyphen if it lets them intermix.
    read = parser.parse_args if "--" in words else parser.parse_intermixed_args
    return read(words, namespace=options)


def request_of(name: str, options: argparse.Namespace, read: Callable[[], str] = str) -> object:
    """Return a command's request for parsed options. `read` returns standard input."""
    kind = COMMANDS[name].load().Request
    given = {field: getattr(options, field) for field in kind.__struct_fields__}
    hints = get_type_hints(kind, include_extras=True)
    found = {
        field: tuple(value) if isinstance(value, list) else value
        for field, value in given.items()
        if value is not None
    }
    for field, value in found.items():
        if value == "-" and get_args(hints[field])[1].extra["option"].piped:
            found[field] = read()
    return kind(**found)


def run_command(work: Work, name: str, request: object) -> VerbResult:
    """Run a command, which may be a verb, and return its result."""
    if VERBS.get(name) is COMMANDS[name]:
        return perform(work, name, request)
    answer: VerbResult = COMMANDS[name].load().do(work, request)
    return answer


def run_line(work: Work, argv: Sequence[str]) -> tuple[VerbResult, str]:
    """Run a command line without global options. Return the result, and its text output."""
    from memrepo.faces.text import text_of

    name, *rest = argv
    request = request_of(name, parse(name, rest))
    result = run_command(work, name, request)
    return result, text_of(name, request, result)


def page(words: Sequence[str]) -> str:
    """Return the help of a command. Raise UsageError for invalid arguments."""
    if len(words) != 1 or words[0].startswith("-"):
        raise UsageError(
            f"memrepo: help {' '.join(words)}: no such page", fix="`memrepo help [--all | COMMAND]`"
        )
    return command_parser(words[0]).format_help().rstrip("\n")
