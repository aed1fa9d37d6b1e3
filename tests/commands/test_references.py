"""Whatever is done, in whatever order: every reference between memories resolves, at every step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from driving import LONG, Done, memories, memrepo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrepo.core.layout import Layout
from memrepo.core.state import State, read_state
from memrepo.merge.closure import closure
from memrepo.policies.graph import Graph
from memrepo.policies.lexicon import lexicon
from memrepo.policies.threads import threads_of

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOSTS = ("Kestrel", "Osprey", "Larder")
LOG = (
    "# 2026-02-0{day}\n\n## 09:00 Start\n\n{host} hums.\n\n"
    "## 11:00 Later\n\nSee [[mem-{digits}]].\n"
)
WORDS = lexicon()


class World:
    """A repository with its workspace; the clock goes on a day with each operation."""

    def __init__(self, base: Path) -> None:
        self.base, self.repo, self.day = base, base / "repo", 0
        (base / "agent" / "memory").mkdir(parents=True)
        self.tell(0)
        self.do("init", self.repo, "--from", base / "agent", where=base)
        self.do("run")

    def do(self, *argv: str | Path, where: Path | None = None) -> Done:
        """Run a command at the day's time; a refusal is fine, a bug is not."""
        now = START + timedelta(days=self.day)
        answer = memrepo(where or self.repo, *argv, now=now.isoformat().replace("+00:00", "Z"))
        assert answer.exit in (0, 1, 2, 3), (argv, answer)
        return answer

    def tell(self, n: int) -> None:
        """Write news into the workspace: bullets that change each other, and a log."""
        known = sorted(memories(self.repo)) if (self.repo / "memories").is_dir() else []
        host, other = HOSTS[n % 3], HOSTS[(n + 1) % 3]
        digits = known[n % len(known)][4:] if known else "0" * 16
        agent = self.base / "agent"
        (agent / "MEMORY.md").write_text(
            f"# Hosts\n\n- **{host} role:** job {n}\n- The {host} host stands near {other}.\n"
            f"- {other} keeps the backups of day {n % 2}.\n",
            encoding="utf-8",
        )
        day = 1 + n % 5
        log = LOG.format(day=day, host=host, digits=digits)
        (agent / "memory" / f"2026-02-0{day}.md").write_text(log, encoding="utf-8")

    def state(self) -> State:
        """Return what the work tree holds."""
        found = self.repo.rglob("*")
        files = {
            p.relative_to(self.repo).as_posix(): p.read_bytes()
            for p in found
            if p.is_file() and ".git" not in p.parts
        }
        return read_state(files, Layout())

    def some(self, n: int) -> str:
        """Return the id of one of the memories."""
        ids = sorted(memories(self.repo))
        return ids[n % len(ids)] if ids else "mem-0000000000000000"


def _news(world: World, n: int) -> None:
    world.tell(n)
    world.do("run")


OPERATIONS: dict[str, Callable[[World, int], object]] = {
    "news": _news,
    "add": lambda w, n: w.do("add", f"{HOSTS[n % 3]} was seen {n} times, see [[{w.some(n)}]]."),
    "link": lambda w, n: w.do("link", w.some(n), "supports", w.some(n + 1)),
    "supersede": lambda w, n: w.do("supersede", w.some(n), f"{HOSTS[n % 3]} is number {n}."),
    "forget": lambda w, n: w.do("forget", w.some(n)),
    "restore": lambda w, n: w.do("restore", w.some(n)),
    "archive": lambda w, n: w.do("archive", w.some(n)),
    "reject": lambda w, n: w.do("reject", w.some(n), "--reason", "wrong"),
    "revert": lambda w, n: w.do("revert"),
    "undo": lambda w, n: w.do("undo"),
    "months": lambda w, n: setattr(w, "day", w.day + 40),
    "run": lambda w, n: w.do("run"),
}


def holds(world: World) -> None:
    """Assert that each link, supersession, parent, thread and summary leads to a memory."""
    state = world.state()
    assert not state.problems
    assert closure(state) == ()
    known = set(state.memories)
    assert {e.target for e in Graph(state.memories.values()).edges} <= known
    threads = threads_of(state.memories, WORDS, ZoneInfo("UTC"))
    assert {id_ for t in threads for id_ in t.members} <= known
    assert {id_ for t in threads for id_ in t.linked} <= {t.id for t in threads}
    notes = {m.id for m in state.memories.values() if m.is_note and m.status != "forgotten"}
    assert sorted(id_ for t in threads for id_ in t.members) == sorted(notes)


@settings(
    max_examples=150 if LONG else 4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 30)),
        min_size=3,
        max_size=12 if LONG else 6,
    )
)
def test_every_reference_resolves_after_any_sequence_of_operations(
    operations: list[tuple[str, int]],
) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        for name, n in operations:
            world.day += 1
            OPERATIONS[name](world, n)
            holds(world)
        answer = world.do("check")
        assert [p for p in answer.data["problems"] if p["severity"] == "error"] == []
