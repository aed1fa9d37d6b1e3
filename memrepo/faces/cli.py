"""Run the command line: read the arguments, the environment and the clock, and print results.

Other modules receive these inputs as values. The parsers are derived from the fields of each verb's
request. The module of a verb is imported when the command line names it, and what the verb needs
when it runs, to keep `--version` and `--help` fast.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_origin, get_type_hints

from memrepo import __version__
from memrepo.actions.verbs import GROUPS as ACTIONS
from memrepo.actions.verbs import VERBS, perform, read_verbs
from memrepo.core.errors import Exit, MemrepoError, UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from memrepo.actions.work import Call, Option, VerbResult, Work
    from memrepo.core.errors import Problem


_OWN = read_verbs(Path(__file__).with_name("commands.txt"), "memrepo.faces")
"""Commands that are not verbs, because they need a terminal, a parser or a process."""

GROUPS = {group: (*verbs, *_OWN.get(group, ())) for group, verbs in ACTIONS.items()}
COMMANDS = {verb.name: verb for group in GROUPS.values() for verb in group}
COMMANDS["agent"] = COMMANDS["agent"]._replace(
    module="memrepo.faces.commands", request="AgentRequest"
)

argparse._ = str  # type: ignore[attr-defined]
"""Disable translation in `argparse`, which searches many folders for each of its messages."""
_DRAFT = partial(argparse.HelpFormatter, width=80)
"""The formatter while options are declared and parsed. `argparse` formats each option once, and
would query the terminal width each time, which is slow."""
_hints = cache(partial(get_type_hints, include_extras=True))


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of exiting the process."""

    printed: type[argparse.HelpFormatter] = argparse.HelpFormatter
    """The formatter of the help that is printed."""

    def format_help(self) -> str:
        """Return the help in the width of the terminal."""
        self.formatter_class = self.printed
        return super().format_help()

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
    parser.printed = argparse.RawDescriptionHelpFormatter
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
    return parser


def add_fields(parser: argparse.ArgumentParser, request: Any) -> None:
    """Declare an argument for each field of a request."""
    hints = _hints(request)
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
    kind: Any = COMMANDS[name].load().Request
    given = {field: getattr(options, field) for field in kind.__struct_fields__}
    hints = _hints(kind)
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


SCHEMA_VERSION = 1
_REFUSALS = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
    }
)
"""System errors for a missing permission or a full disk. These are not bugs."""
_BETWEEN_COLLECTIONS = 100_000
"""New objects between garbage collections. Python's default, 700, costs a tenth of the run time."""


_NO_YEAR = 9000
"""Times from this year on are refused, because adding centuries would pass Python's last year."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    _collect_seldom()
    _print_any_letter()
    as_json = "--json" in (sys.argv[1:] if argv is None else argv)
    try:
        return int(_main(argv))
    except MemrepoError as error:
        _complain(error.message, error.fix, error.exit_code, as_json)
        return int(error.exit_code)
    except KeyboardInterrupt:
        _complain("interrupted; the repository is unchanged", "", Exit.REPOSITORY, as_json)
        return 130
    except BrokenPipeError:
        # The reader closed our output (`memrepo log | head`), which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    except OSError as error:
        if error.errno not in _REFUSALS:
            return _bug(error, as_json)
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        fix = "make room, or give the user that runs memrepo the right to write there"
        _complain(f"the operating system reported: {what}", fix, Exit.REPOSITORY, as_json)
        return int(Exit.REPOSITORY)
    except Exception as error:  # noqa: BLE001 - the only place that turns a bug into a message
        return _bug(error, as_json)


def _decoded(word: str) -> str:
    """Return a word of the command line as UTF-8, also in a locale that has other letters only."""
    if word.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in word):
        return word
    return os.fsencode(word).decode("utf-8", "surrogateescape")


def _print_any_letter() -> None:
    """Escape characters that the output encoding cannot represent, so that printing cannot fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors="backslashreplace")


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "").startswith("utf")


def _json(data: object) -> str:
    """Format data as one line of JSON, in pure ASCII if the output encoding is not Unicode."""
    import json

    ascii_only = not _is_unicode(getattr(sys.stdout, "encoding", None))
    return json.dumps(data, ensure_ascii=ascii_only, default=str)


def _collect_seldom() -> None:
    """Make Python's garbage collection rare, and skip it when the process exits.

    Importing modules creates tens of thousands of objects, mostly functions and classes. They live
    until the process ends, so searching them for garbage wastes time.
    """
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _main(argv: Sequence[str] | None) -> Exit:
    options = globals_parser().parse_args(
        [_decoded(w) for w in (sys.argv[1:] if argv is None else argv)]
    )
    name, *rest = options.line or ["status"]
    if name == "help" and rest in ([], ["--all"]):
        text = listing(everyday=not rest)
        if sys.stdout.isatty():
            _show(text)
        else:
            _say(text)
        return Exit.DONE
    if name == "help":
        print(page(rest))
        return Exit.DONE
    parse(name, rest, options)
    from memrepo.actions.work import Work

    try:
        call = _call(options, name)
    except FileNotFoundError:
        raise UsageError(
            "memrepo: the current folder was deleted", fix="`cd` to a folder that exists"
        ) from None
    if not call.where.is_dir():
        raise UsageError(
            f"memrepo: -C {options.folder}: no such folder",
            fix="name a folder that exists, or leave out -C",
        )
    with Work(call) as work:
        request = request_of(name, options, call.read)
        answer = run_command(work, name, request)
    _print(call, name, request, answer)
    return answer.exit


def _call(options: argparse.Namespace, name: str) -> Call:
    from memrepo.actions.work import Call

    where = (Path.cwd() / options.folder).absolute()
    return Call(
        where=_from_above(where) if name in ("mcp", "agent") else where,
        now=_now(options.now),
        clock=lambda: _now(options.now),
        json=options.json,
        quiet=options.quiet,
        colour=_colour(options),
        actor=_actor(os.environ.get("MEMREPO_ACTOR", "")),
        scope=os.environ.get("MEMREPO_SCOPE", "").strip(),
        id=" ".join(os.environ.get("MEMREPO_SESSION", "").split())[:100],
        say=_nothing if options.json or options.quiet else _say,
        read=_read,
        tick=_nothing if options.json or options.quiet or not sys.stderr.isatty() else _Bars().tick,
    )


def _from_above(where: Path) -> Path:
    """Return a repository's folder, which is named from the working folder or one above it.

    In a subfolder or a worktree of a project, Claude Code reads what `agent install` wrote there.
    """
    from memrepo.core.layout import CONFIG_NAME

    parts = where.parts
    at = parts.index("..") if ".." in parts else len(parts) - 1
    above = (p.joinpath(*parts[at:]) for p in where.parents if (p / ".mcp.json").is_file())
    return next((p for p in (where, *above) if (p / CONFIG_NAME).is_file()), where)


def _colour(options: argparse.Namespace) -> bool:
    """Return whether stdout is a colour terminal and the user has not disabled colours."""
    unwanted = options.no_color or os.environ.get("NO_COLOR")
    return sys.stdout.isatty() and not unwanted and os.environ.get("TERM") != "dumb"


class _Bars:
    """Progress bars on stderr, one for each label that commands report progress under."""

    def __init__(self) -> None:
        self.bars: dict[str, Any] = {}

    def tick(self, label: str) -> None:
        if label not in self.bars:
            from tqdm import tqdm

            for bar in self.bars.values():
                bar.close()
            self.bars[label] = tqdm(desc=label, unit="", leave=False, file=sys.stderr, delay=0.1)
        self.bars[label].update()


def _now(text: str) -> datetime:
    from datetime import UTC, datetime

    from memrepo.core.times import parse_time

    if not text:
        return datetime.now(UTC)
    try:
        found = parse_time(text)
    except ValueError as error:
        raise UsageError(
            f"memrepo: --now {text!r} is not a time",
            fix="write it as RFC 3339, such as 2026-01-31T09:00:00Z",
        ) from error
    if found.year >= _NO_YEAR:
        raise UsageError(
            f"memrepo: --now {text!r} is too late: dates derived from it would be out of range",
            fix=f"name a time before the year {_NO_YEAR}",
        )
    return found


def _actor(text: str) -> str:
    """Return the actor from the environment, where an agent sets it to avoid acting as a person."""
    name = text.removeprefix("agent:")
    return name if not name or ":" in name else f"process:{name}"


def _read() -> str:
    """Read standard input to its end. On a terminal, first say that the command waits for input."""
    if sys.stdin.isatty():
        print("reading from standard input; Ctrl-D ends it", file=sys.stderr)
    return sys.stdin.read()


def _say(line: str) -> None:
    from memrepo.core.secrets import harmless

    print(harmless(line, colour=sys.stdout.isatty()), flush=True)


def _nothing(line: str) -> None:
    del line


def _print(call: Call, name: str, request: object, answer: VerbResult) -> None:
    """Print the result of a command, with each secret replaced by the name of its kind."""
    text = ""
    if not (call.json or call.quiet):
        from memrepo.faces.text import text_of

        text = text_of(name, request, answer, colour=call.colour)
    lines = _warnings(p for p in answer.notices if p.severity == "error" or not call.quiet)
    if not (call.json or text or lines):
        return
    from memrepo.actions.verbs import VERBS
    from memrepo.core.secrets import concealed, harmless, harmless_data

    data = answer.as_json()
    if answer.is_concealed:
        lines = concealed(lines)
    else:  # the whole record shows secrets that a one-line text hides
        data, text, lines = concealed([data, text, lines])
    if call.json:
        data = harmless_data({"schema_version": SCHEMA_VERSION, **data})
        print(_json(data))
        return
    if text:
        text = harmless(text, colour=call.colour)
        # The text of a command that writes is never paged, so that it stays visible.
        reads = name not in VERBS or not VERBS[name].writes or answer.is_report
        if reads and sys.stdout.isatty():
            _show(text)
        else:
            print(text)
    for problem in lines:
        _warn(problem)


def _show(text: str) -> None:
    """Print the output of a command. Use a pager if the output is longer than the screen."""
    import shutil

    if text.count("\n") + 2 > shutil.get_terminal_size().lines:
        import pydoc

        os.environ.setdefault("LESS", "FRX")  # like git: quit if it fits, show colours
        pydoc.pager(f"{text}\n")
    else:
        print(text)


MAX_OF_A_RULE = 3
"""Warnings of one rule that are printed; `--json` has all."""


def _warnings(problems: Iterable[Problem]) -> list[str]:
    """Format all errors and the first few warnings of each rule, one per line."""
    lines: list[str] = []
    more: Counter[str] = Counter()
    for problem in problems:
        more[problem.rule] += problem.severity != "error"
        if more[problem.rule] <= MAX_OF_A_RULE or problem.severity == "error":
            lines.append(str(problem))
    return lines + [
        f"{count - MAX_OF_A_RULE} more warnings of {rule} (`--json` lists all)"
        for rule, count in more.items()
        if count > MAX_OF_A_RULE
    ]


def _warn(text: str) -> None:
    from memrepo.core.ids import visible
    from memrepo.core.secrets import harmless

    lines = (visible(line) for line in harmless(text).split("\n"))
    print("\n".join(lines), file=sys.stderr)


def _complain(message: str, fix: str, code: Exit, as_json: bool) -> None:
    from memrepo.core.secrets import harmless, harmless_data

    if as_json:
        record: dict[str, object] = {
            "schema_version": SCHEMA_VERSION,
            "error": {"message": message, "fix": fix, "exit": int(code)},
        }
        print(_json(harmless_data(record)), file=sys.stderr)
        return
    _warn(f"memrepo: {message.removeprefix('memrepo: ')}")
    if fix:
        print(f"  try: {harmless(fix)}", file=sys.stderr)


def _bug(error: Exception, as_json: bool) -> int:
    """Report an unexpected error with its traceback."""
    import traceback

    trace = "".join(traceback.format_exception(error))
    message = f"a bug: {type(error).__name__}: {error}; {trace}"
    _complain(message, "report it, with what you did", Exit.BUG, as_json)
    return int(Exit.BUG)


if __name__ == "__main__":
    sys.exit(main())
