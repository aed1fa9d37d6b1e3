"""The verbs: what each is called, says of itself, where it lives and whether it writes.

A verb's module holds its `Request` and `do(work, request)`. It is imported when the verb is asked
for, so that `--help` and `--version` load none.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memrepo.actions.result import Result
    from memrepo.actions.work import Work
    from memrepo.core.problems import Problem


class Verb(NamedTuple):
    """One verb."""

    name: str
    says: str
    module: str
    writes: bool = False
    """Whether it writes into the history of the repository."""
    everyday: bool = False
    """Whether `memrepo --help` shows it; `memrepo help --all` shows every one."""

    def load(self) -> Any:
        """Import its module, which holds `Request` and `do`."""
        return import_module(self.module)


GROUPS: dict[str, tuple[Verb, ...]] = {
    "get started": (
        Verb(
            "init",
            "make a knowledge repository, or adopt a folder",
            "memrepo.actions.setup.init",
            everyday=True,
        ),
        Verb(
            "status", "where the repository stands", "memrepo.actions.setup.status", everyday=True
        ),
        Verb(
            "sources",
            "what each source file is taken for, and how many memories rest on it",
            "memrepo.actions.setup.sources",
        ),
        Verb(
            "doctor",
            "named checks of repository, index, hooks and judge",
            "memrepo.actions.setup.doctor",
        ),
        Verb(
            "config",
            "what is configured and why; set a key, explain a key",
            "memrepo.actions.setup.config",
        ),
        Verb(
            "upgrade",
            "bring a repository of an older format to this program's, in one commit",
            "memrepo.actions.setup.upgrade",
            writes=True,
        ),
    ),
    "take in and distil": (
        Verb(
            "ingest",
            "snapshot the workspace's files into sources/",
            "memrepo.actions.run.ingest",
            writes=True,
        ),
        Verb(
            "run",
            "take in what is new, distil it into memories, commit the result",
            "memrepo.actions.run.run",
            writes=True,
            everyday=True,
        ),
        Verb(
            "judge",
            "let the agent that already runs do the judging: its next question, an answer",
            "memrepo.actions.run.session",
            writes=True,
        ),
        Verb(
            "schedule",
            "crontab entries for runs at the times of the cadence",
            "memrepo.actions.setup.schedule",
        ),
        Verb("report", "what the last run in this clone came to", "memrepo.actions.run.report"),
    ),
    "find": (
        Verb("search", "find memories by words", "memrepo.actions.recall.search", everyday=True),
        Verb(
            "show",
            "show one memory and the source lines it rests on",
            "memrepo.actions.recall.show",
            everyday=True,
        ),
        Verb(
            "recent",
            "the memories that are new or changed since a date or a run",
            "memrepo.actions.recall.recent",
        ),
        Verb(
            "related",
            "what a memory is linked to or replaced, both ways",
            "memrepo.actions.recall.related",
        ),
        Verb(
            "graph",
            "the links between all memories, as a list or a page",
            "memrepo.actions.recall.graph",
        ),
        Verb(
            "thread",
            "the conversations that notes belong to, or one of them in order",
            "memrepo.actions.recall.thread",
        ),
        Verb(
            "topics",
            "what the memories are about, and what rises or falls",
            "memrepo.actions.recall.topics",
        ),
        Verb(
            "entities",
            "names, projects, hosts and tools that the memories mention",
            "memrepo.actions.recall.entities",
        ),
        Verb(
            "why-not",
            "why a memory is not recalled, not hot, or gone",
            "memrepo.actions.recall.why_not",
        ),
    ),
    "write": (
        Verb(
            "add", "write a memory by hand", "memrepo.actions.write.add", writes=True, everyday=True
        ),
        Verb(
            "supersede",
            "replace a memory by a newer statement",
            "memrepo.actions.write.supersede",
            writes=True,
            everyday=True,
        ),
        Verb(
            "confirm",
            "say that a memory holds",
            "memrepo.actions.write.confirm",
            writes=True,
            everyday=True,
        ),
        Verb(
            "edit",
            "reword a memory or set its fields",
            "memrepo.actions.write.edit",
            writes=True,
            everyday=True,
        ),
        Verb(
            "forget",
            "take a memory out of recall",
            "memrepo.actions.write.forget",
            writes=True,
            everyday=True,
        ),
        Verb(
            "pin",
            "protect a memory from ageing and pruning, or end that",
            "memrepo.actions.write.pin",
            writes=True,
        ),
        Verb(
            "link",
            "link one memory to another",
            "memrepo.actions.write.link",
            writes=True,
        ),
        Verb(
            "directives",
            "do what the [[...]] directives of a text ask for",
            "memrepo.actions.write.directives",
            writes=True,
        ),
    ),
    "review and decide": (
        Verb(
            "runs",
            "the runs in effect, and those that wait for review",
            "memrepo.actions.review.runs",
            everyday=True,
        ),
        Verb(
            "diff",
            "what a run would change, or changed, told in memories",
            "memrepo.actions.review.diff",
            everyday=True,
        ),
        Verb(
            "accept",
            "let a waiting run take effect",
            "memrepo.actions.review.accept",
            writes=True,
            everyday=True,
        ),
        Verb(
            "discard",
            "refuse a waiting run",
            "memrepo.actions.review.discard",
            writes=True,
            everyday=True,
        ),
        Verb(
            "resolve",
            "decide between two memories that contradict each other, or list such",
            "memrepo.actions.review.resolve",
            writes=True,
        ),
    ),
    "take back": (
        Verb(
            "revert",
            "take a run or a decision back, and keep what came later",
            "memrepo.actions.takeback.revert",
            writes=True,
            everyday=True,
        ),
        Verb(
            "undo",
            "take the last operation back; again, and it is back",
            "memrepo.actions.takeback.undo",
            writes=True,
            everyday=True,
        ),
        Verb(
            "restore",
            "bring back a memory that was pruned, forgotten, archived or superseded",
            "memrepo.actions.takeback.restore",
            writes=True,
        ),
        Verb(
            "reject",
            "keep what a memory says from ever coming back; list that; lift it",
            "memrepo.actions.takeback.reject",
            writes=True,
            everyday=True,
        ),
        Verb(
            "purge",
            "take a value out of history, caches and clones; verify that it is gone",
            "memrepo.actions.purge.purge",
            writes=True,
        ),
    ),
    "look into the past": (
        Verb("log", "history in memory terms", "memrepo.actions.past.log", everyday=True),
        Verb(
            "why",
            "what a memory rests on, every commit of it, who set what of it",
            "memrepo.actions.past.why",
            everyday=True,
        ),
    ),
    "sessions and ageing": (
        Verb(
            "session",
            "begin or end an agent's session",
            "memrepo.actions.lifecycle.session",
            writes=True,
        ),
        Verb(
            "promote",
            "put a memory on the hot cache, or take it off",
            "memrepo.actions.lifecycle.promote",
            writes=True,
        ),
        Verb(
            "archive",
            "let a memory rest outside of recall",
            "memrepo.actions.lifecycle.archive",
            writes=True,
        ),
        Verb(
            "nominate", "notes that earned promotion, and why", "memrepo.actions.lifecycle.nominate"
        ),
        Verb(
            "tiers",
            "how notes are spread over the tiers, and what moves next",
            "memrepo.actions.lifecycle.tiers",
        ),
        Verb(
            "decay",
            "decay classes: statistics, reclassification, pruning",
            "memrepo.actions.lifecycle.decay",
            writes=True,
        ),
        Verb("health", "the state of the memory in figures", "memrepo.actions.lifecycle.health"),
    ),
    "share and exchange": (
        Verb(
            "sync",
            "bring this clone and the hub to one history",
            "memrepo.actions.sync.sync",
            writes=True,
        ),
        Verb(
            "export",
            "write the memories in another program's format",
            "memrepo.actions.exchange.export",
        ),
        Verb(
            "import",
            "take in what another program keeps as memory",
            "memrepo.actions.exchange.import_",
            writes=True,
        ),
    ),
    "for agents": (
        Verb(
            "agent",
            "put memory into an agent's program by its own hooks",
            "memrepo.actions.setup.agent",
        ),
    ),
    "for git, hooks and shells": (
        Verb("check", "validate memory files", "memrepo.actions.check.check"),
        Verb(
            "check-message",
            "refuse a hand-written commit message that poses as memrepo's",
            "memrepo.actions.check.check_message",
        ),
        Verb(
            "hooks",
            "install the git hooks, say whether they run, and what they run",
            "memrepo.actions.setup.hooks",
        ),
        Verb(
            "trust",
            "accept the programs that .pre-commit-config.yaml names",
            "memrepo.actions.setup.trust",
        ),
        Verb(
            "merge-driver",
            "join one file field by field, for `git merge` (git calls it)",
            "memrepo.actions.sync.merge_driver",
        ),
    ),
}
"""The verbs by what they are for, in the order of `memrepo help --all`."""

VERBS = {verb.name: verb for group in GROUPS.values() for verb in group}


class Alias(NamedTuple):
    """An older name: the verb that it is by now, and what it says of the verb's request."""

    verb: str
    given: Mapping[str, object]
    now: str
    """How a person writes it today."""


ALIASES: dict[str, Alias] = {
    "history": Alias("why", {"show": "history"}, "why ID --show history"),
    "blame": Alias("why", {"show": "blame"}, "why ID --show blame"),
    "rejected": Alias("reject", {"list": True}, "reject --list"),
    "unreject": Alias("reject", {"undo": True}, "reject ID --undo"),
    "unpin": Alias("pin", {"off": True}, "pin ID --off"),
    "demote": Alias("promote", {"off": True}, "promote ID --off"),
    "threads": Alias("thread", {"id": ""}, "thread"),
    "corrections": Alias("resolve", {"list": True}, "resolve --list"),
}
"""Names that went on working when one question became one verb."""


def perform(work: Work, name: str, request: Any) -> Result:
    """Do what a request asks for; one that writes first settles what git merged by hand."""
    verb = VERBS[name]
    told: tuple[Problem, ...] = ()
    if work.call.scope:
        from memrepo.actions.scopes import refuse_verb

        refuse_verb(work.call.scope, name)
    if reason := getattr(request, "reason", ""):
        from memrepo.actions.guard import refuse_secret

        refuse_secret(reason, "the reason")
    if verb.writes and not (getattr(request, "dry_run", False) or getattr(request, "list", False)):
        from memrepo.actions.hand_merges import settle_first

        told = settle_first(work.unbound() if work.call.scope else work)
        work.refresh()
    found: Result = verb.load().do(work, request)
    return found.after(told) if told else found
