"""The table of verbs: names, help lines, modules, and whether each verb writes history.

A verb's module defines `Request` and `do(work, request)`. If several verbs share a module, each has
`NameRequest` and `name(work, request)`. A module is imported when its verb is called, so `--help`
and `--version` import none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memrepo.actions.request import VerbResult
    from memrepo.actions.work import Work
    from memrepo.core.problems import Problem


class Verb(NamedTuple):
    """One verb of the command table."""

    name: str
    says: str
    module: str
    writes: bool = False
    """Whether the verb writes into the repository's history."""
    everyday: bool = False
    """Whether `memrepo --help` shows it. `memrepo help --all` shows every verb."""

    request: str = "Request"
    """Class name of its request. Verbs that share a module have `PinRequest` and so on."""

    def load(self) -> Loaded:
        """Import the verb's module, and return the request class and the function of the verb."""
        module = import_module(self.module)
        do = "do" if self.request == "Request" else self.name.replace("-", "_")
        return Loaded(getattr(module, self.request), getattr(module, do))


class Loaded(NamedTuple):
    """The request class and the function of a verb, after import."""

    Request: type[Any]
    do: Callable[[Work, Any], VerbResult]


_TABLE = """
get started
  init          setup.init          -e make a knowledge repository, or adopt a folder
  status        setup.status        -e the state of the repository
  sources       setup.status        -- the kind of each source file, and its number of memories
  doctor        setup.doctor        -- named checks of repository, index, hooks and judge
  config        setup.config        -- what is configured and why; set a key, explain a key
  upgrade       setup.upgrade       w- bring a repository of an older format to this program's, in one commit
take in and distil
  ingest        run.ingest          w- copy the workspace's files into sources/
  run           run.run             we read what is new, turn it into memories, commit the result
  judge         run.session         w- let a running agent judge: show its next question, take an answer
  schedule      setup.schedule      -- crontab entries for scheduled runs
  report        run.report          -- the report of the last run in this clone
find
  search        recall.search       -e find memories by words
  show          recall.show         -e show one memory and its source lines
  recent        recall.recent       -- the memories that are new or changed since a date or a run
  related       recall.related      -- what a memory is linked to or replaced, both ways
  graph         recall.graph        -- the links between all memories, as a list or a page
  thread        recall.thread       -- the conversations that notes belong to, or one of them in order
  topics        recall.topics       -- the topics of the memories, and their trend
  entities      recall.entities     -- names, projects, hosts and tools that the memories mention
  why-not       recall.why_not      -- explain why a memory is not recalled, not hot, or gone
write
  add           write.add           we write a memory by hand
  supersede     write.change        we replace a memory by a newer statement
  confirm       write.change        we confirm that a memory is right
  edit          write.change        we reword a memory or set its fields
  forget        write.change        we take a memory out of recall
  pin           write.change        w- protect a memory from ageing and pruning, or end that
  link          write.change        w- link one memory to another
  directives    write.change        w- carry out the [[...]] directives of a text
review and decide
  diff          review.diff         -e the memories that a run would change, or changed
  accept        review.accept       we let a waiting run take effect
  discard       review.accept       we refuse a waiting run
  resolve       review.resolve      w- list contradictions, or decide one
undo and erase
  revert        takeback.revert     we revert a run or a decision, and keep later work
  undo          takeback.revert     we undo the last operation; a second time, redo it
  restore       takeback.restore    w- bring back a memory that was pruned, forgotten, archived or superseded
  reject        takeback.reject     we keep a statement out for good; list rejections; lift one
  purge         purge.purge         w- remove a value from history, caches and clones; verify that it is gone
look into the past
  log           past.log            -e history in memory terms
  why           past.why            -e the evidence of a memory, its commits, and who set which field
sessions and ageing
  session       lifecycle.session   w- begin or end an agent's session
  promote       write.change        w- put a memory on the hot cache, or take it off
  archive       write.change        w- archive a memory: out of recall, in the tree
  nominate      lifecycle.ageing    -- notes that are nominated for promotion, and why
  tiers         lifecycle.ageing    -- how notes are spread over the tiers, and what moves next
  decay         lifecycle.ageing    w- decay classes: statistics, reclassification, pruning
  health        lifecycle.ageing    -- the state of the memory in figures
share and exchange
  sync          sync.sync           w- join this clone and the hub
  export        exchange.export     -- write the memories in another program's format
  import        exchange.import_    w- import the memory of another program
for agents
  agent         setup.agent         -- install memory in an agent's program
for git, hooks and shells
  check         check.check         -- validate memory files
  check-message check.check         -- refuse a hand-written commit message that poses as memrepo's
  hooks         setup.hooks         -- install the git hooks, print whether they run, run one
  trust         setup.hooks         -- accept the programs that .pre-commit-config.yaml names
  merge-driver  sync.merge_driver   -- join one file field by field, for `git merge` (git calls it)
"""
"""One verb per line: its name, its module below `actions`, its flags and its help line.

The flags are `w` for a verb that writes history and `e` for an everyday verb.
"""


def _read(table: str) -> dict[str, tuple[Verb, ...]]:
    found: dict[str, tuple[Verb, ...]] = {}
    group = ""
    for line in table.strip().splitlines():
        if line.startswith("  "):
            name, module, flags, says = line.split(None, 3)
            is_shared = table.count(f" {module} ") > 1
            request = f"{name.title().replace('-', '')}Request" if is_shared else "Request"
            module = f"memrepo.actions.{module}"
            found[group] += (Verb(name, says, module, "w" in flags, "e" in flags, request),)
        else:
            group = line
            found[group] = ()
    return found


GROUPS = _read(_TABLE)
"""The verbs by purpose, in the order of `memrepo help --all`."""

VERBS = {verb.name: verb for group in GROUPS.values() for verb in group}


class Alias(NamedTuple):
    """An older name of a verb, with the current verb and the request fields that the alias sets."""

    verb: str
    given: Mapping[str, object]
    now: str
    """The command a person should type now."""


ALIASES: dict[str, Alias] = {
    "runs": Alias("log", {"runs": True}, "log --runs"),
    "history": Alias("why", {"show": "history"}, "why ID --show history"),
    "blame": Alias("why", {"show": "blame"}, "why ID --show blame"),
    "rejected": Alias("reject", {"list": True}, "reject --list"),
    "unreject": Alias("reject", {"undo": True}, "reject ID --undo"),
    "unpin": Alias("pin", {"off": True}, "pin ID --off"),
    "demote": Alias("promote", {"off": True}, "promote ID --off"),
    "threads": Alias("thread", {"id": ""}, "thread"),
    "corrections": Alias("resolve", {"list": True}, "resolve --list"),
}
"""Former verb names that still work after several verbs were merged into one."""


def perform(work: Work, name: str, request: Any) -> VerbResult:
    """Run a verb with a request, and return the result.

    Verbs that write first settle merges by git.
    """
    verb = VERBS[name]
    notices: tuple[Problem, ...] = ()
    if work.call.scope:
        from memrepo.actions.guard import refuse_verb

        refuse_verb(work.call.scope, name)
    if reason := getattr(request, "reason", ""):
        from memrepo.actions.guard import refuse_secret

        refuse_secret(reason, "the reason")
    if verb.writes and not (getattr(request, "dry_run", False) or getattr(request, "list", False)):
        from memrepo.actions.hand_merges import settle_first

        notices = settle_first(work.unbound() if work.call.scope else work)
        work.refresh()
    found: VerbResult = verb.load().do(work, request)
    return found.after(notices) if notices else found
