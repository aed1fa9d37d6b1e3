"""The commands, and how one is parsed and run.

A command's module is imported when it is named, and what it works with when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from memrepo import __version__
from memrepo.core.errors import Exit, MemrepoError

if TYPE_CHECKING:
    from memrepo.actions.work import Answer, Session
    from memrepo.core.problems import Problem

GROUPS: dict[str, dict[str, str]] = {
    "get started": {
        "init": "make a knowledge repository, or adopt a folder",
        "demo": "a two-minute tour on sample data, offline",
        "status": "where the repository stands",
        "doctor": "named checks of repository, index, hooks and judge",
        "config": "effective configuration and where each value comes from",
    },
    "take in and distil": {
        "ingest": "snapshot the workspace's files into sources/",
        "run": "take in what is new, distil it into memories, commit the result",
        "schedule": "crontab entries for runs at the times of the cadence",
        "report": "what the last run in this clone came to",
    },
    "find": {
        "search": "find memories by words",
        "show": "show one memory and the source lines it rests on",
        "related": "what a memory is linked to or replaced, both ways",
        "graph": "the links between all memories, as a list or a page",
        "threads": "the conversations that notes belong to",
        "thread": "one conversation in order",
        "topics": "what the memories are about, and what rises or falls",
        "entities": "names, projects, hosts and tools that the memories mention",
        "why-not": "why a memory is not recalled, not hot, or gone",
    },
    "write": {
        "add": "write a memory by hand",
        "supersede": "replace a memory by a newer statement",
        "confirm": "say that a memory holds",
        "edit": "reword a memory or set its fields",
        "forget": "take a memory out of recall",
        "pin": "protect a memory from ageing and pruning",
        "unpin": "end that protection",
        "link": "link one memory to another",
        "directives": "do what the [[...]] directives of a text ask for",
    },
    "review and decide": {
        "runs": "the runs in effect, and those that wait for review",
        "diff": "what a run would change, or changed, told in memories",
        "accept": "let a waiting run take effect",
        "discard": "refuse a waiting run",
        "resolve": "decide between two memories that contradict each other",
        "corrections": "contradictions and other corrections, open ones first",
    },
    "take back": {
        "revert": "take a run or a decision back, and keep what came later",
        "undo": "take the last operation back; again, and it is back",
        "restore": "bring back a memory that was pruned, forgotten, archived or superseded",
        "reject": "keep what a memory says from ever coming back",
        "unreject": "let a rejected memory come back",
        "rejected": "what was rejected, by whom and why",
    },
    "look into the past": {
        "log": "history in memory terms",
        "history": "every commit of one memory",
        "why": "the evidence and the judgements that a memory rests on",
        "blame": "who set each field of a memory, and when and why",
    },
    "sessions and ageing": {
        "session": "begin or end an agent's session",
        "promote": "put a memory on the hot cache",
        "demote": "take a memory off the hot cache",
        "archive": "let a memory rest outside of recall",
        "nominate": "notes that earned promotion, and why",
        "tiers": "how notes are spread over the tiers, and what moves next",
        "decay": "decay classes: statistics, reclassification, pruning",
        "health": "the state of the memory in figures",
        "simulate": "what would survive: the policies played forward in memory",
    },
    "share and exchange": {
        "sync": "bring this clone and the hub to one history",
        "export": "write the memories in another program's format",
        "import": "take in what another program keeps as memory",
    },
    "for agents": {
        "agent": "put memory into an agent's program by its own hooks",
        "mcp": "serve the memory's tools to an agent over standard input and output",
    },
    "for git, hooks and shells": {
        "check": "validate memory files",
        "check-message": "refuse a hand-written commit message that poses as memrepo's",
        "hooks": "install the git hooks, say whether they run, and what they run",
        "trust": "accept the programs that .pre-commit-config.yaml names",
        "merge-driver": "join one file field by field, for `git merge` (git calls it)",
        "completion": "print a completion script for your shell",
    },
}
"""What each command does, by what it is for, in the order of `memrepo --help`."""

COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
_MODULES = {
    "check-message": "check_message",
    "import": "import_",
    "merge-driver": "merge_driver",
    "session": "sessions",
    "why-not": "why_not",
}
"""Modules of commands whose name is a word of the language, or taken, or has a hyphen."""

_ELSEWHERE = ("agent", "check", "export", "hooks", "schedule", "trust")
"""Commands that write, but nothing into the history of the repository."""


class UsageError(MemrepoError):
    """The command line is not of the form a command takes."""

    exit_code = Exit.USAGE

    def __init__(self, message: str, usage: str = "", *, fix: str = "") -> None:
        super().__init__(f"{message}\n{usage}".strip(), fix=fix)


_DRAFT = partial(argparse.HelpFormatter, width=80)
"""While options are declared: `argparse` formats each once, and would ask how wide the screen is,
which takes longer than all of the declaring. Help that is printed is as wide as the screen."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are exceptions, caught where all others are."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError instead of leaving the process."""
        raise UsageError(f"{self.prog}: {message}", self.format_usage())


def globals_parser() -> Parser:
    """Return the parser of what stands before the command."""
    parser = Parser(
        prog="memrepo",
        usage="memrepo [-C DIR] [--now TIME] [--json] [-q] [--no-color] COMMAND ...",
        description="An agent's memory as plain markdown files in a git repository.",
        epilog=f"{_listing()}\n\n`memrepo COMMAND --help` explains one.",
        formatter_class=_DRAFT,
    )
    parser.add_argument("--version", action="version", version=f"memrepo {__version__}")
    add_globals(parser, defaults=True)
    # One positional for the whole command line: a second one would eat the `--` before a word.
    parser.add_argument("line", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _listing() -> str:
    width = max(map(len, COMMANDS))
    return "\n\n".join(
        "\n".join([f"{group}:", *(f"  {name:<{width}}  {text}" for name, text in within.items())])
        for group, within in GROUPS.items()
    )


def add_globals(parser: argparse.ArgumentParser, *, defaults: bool) -> None:
    """Declare the global options; after the command they override only when they are given."""

    def default(value: Any) -> Any:
        return value if defaults else argparse.SUPPRESS

    group = parser.add_argument_group("global options")
    group.add_argument(
        "-C", dest="folder", default=default(""), metavar="DIR", help="work as if started in DIR"
    )
    group.add_argument(
        "--now", default=default(""), metavar="TIME", help="take this RFC 3339 time for the clock's"
    )
    group.add_argument(
        "--json", action="store_true", default=default(False), help="print one JSON object"
    )
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        default=default(False),
        help="print nothing but errors",
    )
    group.add_argument(
        "--no-color",
        action="store_true",
        default=default(False),
        help="print no colours (as with NO_COLOR)",
    )


def command_parser(name: str) -> Parser:
    """Return the parser of one command; raises UsageError with a suggestion for no command."""
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        raise UsageError(
            f"memrepo: {name!r} is not a command",
            fix=f"did you mean {near[0]}?" if near else "`memrepo --help` lists them",
        )
    module = module_of(name)
    says = f"{COMMANDS[name].capitalize()}."
    parser = Parser(prog=f"memrepo {name}", description=says, formatter_class=_DRAFT)
    module.arguments(parser)
    add_globals(parser, defaults=False)
    parser.formatter_class = argparse.HelpFormatter
    return parser


def module_of(name: str) -> Any:
    """Import the module of a command: most carry its name, a few keywords cannot."""
    return import_module(f"memrepo.commands.{_MODULES.get(name, name)}")


def run_command(session: Session, name: str, options: argparse.Namespace) -> Answer:
    """Run one parsed command; one that writes settles first what git merged by hand.

    A command that writes is one that takes `--dry-run`.
    """
    told: tuple[Problem, ...] = ()
    if reason := getattr(options, "reason", ""):
        from memrepo.actions.check.secrecy import refuse_secret

        refuse_secret(reason, "the reason")
    if getattr(options, "dry_run", None) is False and name not in _ELSEWHERE:
        from memrepo.actions.sync.settling import settle_first

        told = settle_first(session)
    answer: Answer = module_of(name).run(session, options)
    return answer.after(told) if told else answer


def call(session: Session, argv: Sequence[str]) -> Answer:
    """Parse and run a command line without global options, as the demo does."""
    name, *rest = argv
    return run_command(session, name, command_parser(name).parse_args(rest))
