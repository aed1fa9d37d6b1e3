"""The enhancement plan of openclaw-engram, promise by promise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from driving import (
    LATER,
    NEXT_DAY,
    NOW,
    begin,
    configure,
    done,
    files,
    git,
    memories,
    memrepo,
    subjects,
)
from hoards import BORN, KEPT, hoard, memory, stored
from mcp import Client
from mcp_driving import text as answer_of
from mcp_driving import with_client
from seed_rows import assert_each_row_has_an_end, row, section

from memrepo.core.times import parse_time
from memrepo.text.sentences import chunks, sentences

LOVES, HATES = "Mara's theme: the dark one", "Mara's theme: the light one"
BEDS = "beans peas leeks kale chard beets carrots onions garlic squash melons herbs".split()
LONG = " ".join(
    f"The gardener of bed number {n} waters the {plant} on each dry evening and writes it down."
    for n, plant in enumerate(BEDS)
)
SLOW = "- **Watering interval:** every 3 days (2026-01-05)\n"
FAST = "- **Watering interval:** every 2 days (2026-02-05)\n"
ENGRAM = ("migrating.md", "Differences from engram")


def new(folder: Path, *options: str) -> Path:
    done(folder, "init", "repo", *options)
    return folder / "repo"


def added(repo: Path, text: str, *options: str, now: str = NOW) -> str:
    return str(done(repo, "add", text, *options, now=now)["id"])


def configured(repo: Path, text: str) -> Path:
    path = repo / "memrepo.toml"
    path.write_text(f"{path.read_text('utf-8')}\n{text}\n", encoding="utf-8")
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return repo


def compared(repo: Path) -> dict[str, Any]:
    """Let runs read two statements of which the second, dated one changes the first."""
    agent = repo.parent / "agent"
    agent.mkdir()
    (agent / "MEMORY.md").write_text(f"# Garden\n\n{SLOW}", encoding="utf-8")
    git(repo, "config", "memrepo.workspace", str(agent))
    done(repo, "run", now=LATER)
    (agent / "PLAN.md").write_text(f"# Garden\n\n{FAST}", encoding="utf-8")
    done(repo, "run", now=NEXT_DAY)
    found = {m.body.partition(" days")[0][-1]: m for m in memories(repo).values()}
    return {"old": found["3"], "new": found["2"]}


def hits(repo: Path, *words: str, now: str = NOW) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(repo, "search", *words, "--no-touch", now=now)["hits"]
    return found


def importance(repo: Path, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = done(repo, "show", id_, "--no-touch")["importance"]
    return found


# -- 1. importance -------------------------------------------------------------------------------

LEVELS = {
    "critical": (
        *("Remember this: the key hangs in the shed.", "My name is Vera Holm."),
        *("The phone number of Vera is on the door.", "Vera prefers raised beds."),
    ),
    "high": (
        *("We decided on larch for the fence.", "Make sure that the pump is dry."),
        *("The report is due by Friday.", "The fair opens on 2026-05-04."),
    ),
    "normal": (
        *("The barn has a roof of slate.", "The roof leaked again, which made everyone sad."),
        "The mill stands at the river.",
    ),
    "low": ("Maybe the barn has a cellar.", "I think the mill is dry."),
    "trivial": ("Got it", "Thank you!", "ok", "thanks", "OK, thanks!", "Hello!"),
}
BANDS = {
    "critical": (0.9, 1.0),
    "high": (0.7, 0.9),
    "normal": (0.4, 0.7),
    "low": (0.2, 0.4),
    "trivial": (0.0, 0.2),
}


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of the profile classic with texts of each level; read only."""
    texts = [text for found in LEVELS.values() for text in found]
    repo = new(tmp_path_factory.mktemp("weighed"), "--profile", "classic")
    stored(repo, [memory(n, text) for n, text in enumerate(texts)])
    return repo


def _level(level: str, repo: Path) -> None:
    found = {m.body: importance(repo, m.id) for m in memories(repo).values()}
    low, high = BANDS[level]
    for text in LEVELS[level]:
        assert found[text]["level"] == level, (text, found[text])
        assert low <= found[text]["score"] < high or level == "critical", text
        assert found[text]["score"] <= high


for _level_, _what in {
    "critical": "Explicit markers, personal facts and preferences are critical, from 0.9",
    "high": "Decisions, instructions and deadlines are high, from 0.7 to 0.9",
    "normal": "Facts and feelings are normal, from 0.4 to 0.7",
    "low": "Uncertain statements are low, from 0.2 to 0.4",
    "trivial": "Greetings and filler words are trivial, below 0.2",
}.items():

    def _row(weighed: Path, level: str = _level_) -> None:
        _level(level, weighed)

    setattr(sys.modules[__name__], f"test_a_row_{_level_}", row(_what, "classic")(_row))


@row("Uncertainty lowers the level of what would be critical or high", "classic")
def test_a_row_hedged(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    assert importance(repo, added(repo, "Maybe we decided on larch."))["level"] == "normal"
    assert importance(repo, added(repo, "Vera probably prefers larch."))["level"] == "high"


@row(
    "The level of a text follows from its strongest marker",
    "documented",
    *ENGRAM,
    "profile `classic`",
)
def test_a_row_sum_by_default(repo: Path) -> None:
    found = importance(repo, added(repo, "You must lock the gate."))
    assert (found["score"], found["level"]) == (0.82, "high")


@row("A score explains itself by reasons", "default")
def test_a_row_reasons(repo: Path) -> None:
    found = importance(repo, added(repo, "We must ship, maybe at 10:30.", "--type", "decision"))
    assert found["reasons"] == ["critical", "hedging", "category", "specifics"]
    assert [p["words"] for p in found["points"]] == ["must", "maybe", "decision", "10"]


@row("Salient keywords are extracted", "default")
def test_a_row_keywords(repo: Path) -> None:
    found = importance(repo, added(repo, "The container runs in docker, and docker in the barn."))
    assert found["keywords"][:2] == ["docker", "container"]


@row("What is important ranks first", "default")
def test_a_row_important_first(repo: Path) -> None:
    added(repo, "Perhaps the lantern of the barn is out.")
    must = added(repo, "You must bring the lantern of the barn.")
    first, second = hits(repo, "lantern", "barn")
    assert first["id"] == must
    assert first["parts"]["importance"] > second["parts"]["importance"]


@row("No memory is refused or hidden for a low importance", "default")
def test_a_row_all_stored(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    id_ = added(repo, "Hey, maybe we are back from Japan")
    assert importance(repo, id_)["level"] == "low"
    assert [hit["id"] for hit in hits(repo, "Japan")] == [id_]


@row("Importance is stored in the header of a memory", "documented", *ENGRAM, "stored nowhere")
def test_a_row_not_stored(weighed: Path) -> None:
    assert all(not m.importance for m in memories(weighed).values())


# -- 2. chunks -----------------------------------------------------------------------------------


@row("A long memory is cut at the ends of sentences, never within one", "default")
def test_a_row_sentences(repo: Path) -> None:
    shown = done(repo, "show", added(repo, LONG), "--no-touch")
    ends = {end for _, end in sentences(LONG)}
    assert len(shown["chunks"]) > 1
    assert {chunk["end"] for chunk in shown["chunks"]} <= ends


@row("A chunk aims at two hundred tokens, and shares two sentences with the one before", "default")
def test_a_row_size_of_chunks(repo: Path) -> None:
    cut = done(repo, "show", added(repo, LONG), "--no-touch")["chunks"]
    assert all(200 <= chunk["tokens"] < 250 for chunk in cut[:-1])
    for one, other in pairwise(cut):
        assert len(sentences(LONG[other["start"] : one["end"]])) == 2


@row("A text below one hundred and fifty tokens is not cut", "default")
def test_a_row_short(repo: Path) -> None:
    text = "The barn is dry. " * 35 + "It is."  # 600 characters, 150 tokens
    short = text[17:]
    assert len(chunks(text, target=50)) > len(chunks(short, target=50)) == 1
    assert len(done(repo, "show", added(repo, short), "--no-touch")["chunks"]) == 1


@row("A coherent thought stays in one chunk", "default")
def test_a_row_thought(tmp_path: Path) -> None:
    thought = "He prefers dark mode for coding but light mode for reading."
    repo = new(tmp_path)
    cut = done(repo, "show", added(repo, f"{LONG} {thought} {LONG}"), "--no-touch")["chunks"]
    text = f"{LONG} {thought} {LONG}"
    parts = [text[c["start"] : c["end"]] for c in cut]
    assert any(thought in part for part in parts)
    assert all("dark mode" not in part or thought in part for part in parts)


@row("A search returns the chunk that answers with a link to its whole memory", "default")
def test_a_row_hit_in_a_chunk(repo: Path) -> None:
    id_ = added(repo, LONG)
    (hit,) = hits(repo, "herbs")
    assert hit["id"] == id_
    assert hit["truncated"]
    assert "herbs" in hit["text"]
    assert "beans" not in hit["text"]


@row("Chunks are files of their own with parentId and chunkIndex", "classic")
def test_a_row_chunk_files(repo: Path) -> None:
    id_ = added(repo, LONG)
    configure(repo, "chunking.materialise", "true")
    assert done(repo, "run", now=LATER)["counts"]["memories_new"] == 0
    cut = sorted(
        (m for m in memories(repo).values() if m.type == "chunk"), key=lambda m: m.fields["chunk"]
    )
    assert [m.fields["chunk"] for m in cut] == [0, 1]
    assert {m.parent for m in cut} == {id_}
    assert cut[0].body.startswith("The gardener of bed number 0")
    assert [hit["id"] for hit in hits(repo, "herbs", now=LATER)] == [id_]
    assert memrepo(repo, "check", "--all").exit == 0
    assert done(repo, "run", now=LATER)["status"] == "skipped"
    done(repo, "edit", id_, "--text", "The beds are gone.", now=LATER)
    done(repo, "run", now=NEXT_DAY)
    assert set(memories(repo)) == {id_}


@row(
    "The id of a chunk is the id of its parent with -chunk- and its index",
    "documented",
    *ENGRAM,
    "`<parent>-chunk-<index>-<digits>.md`",
)
def test_a_row_chunk_ids(repo: Path) -> None:
    id_ = added(repo, LONG)
    configure(repo, "chunking.materialise", "true")
    done(repo, "run", now=LATER)
    names = [m.slug for m in memories(repo).values() if m.type == "chunk"]
    assert sorted(name.rpartition("-")[0] for name in names) == [f"{id_}-chunk-0", f"{id_}-chunk-1"]


# -- 3. recency and 4. access --------------------------------------------------------------------


@row("A score is words by 1 - w and recency by w, with w = 0.2", "default")
def test_a_row_recency(repo: Path) -> None:
    added(repo, "The lantern of the barn is lit.")
    (fresh,) = hits(repo, "lantern")
    assert fresh["parts"]["recency"] == pytest.approx(0.2)
    (plain,) = done(repo, "search", "lantern", "--recency-weight", "0", "--no-touch")["hits"]
    assert plain["parts"].get("recency", 0) == 0
    assert fresh["parts"]["words"] == pytest.approx(0.8 * plain["parts"]["words"], abs=1e-3)


@row("The recency of a memory falls exponentially with its age", "default")
def test_a_row_half_life(repo: Path) -> None:
    added(repo, "The lantern of the barn is lit.")
    for now, share in (("2026-03-08T09:00:00Z", 0.1), ("2026-03-15T09:00:00Z", 0.05)):
        (hit,) = hits(repo, "lantern", now=now)
        assert hit["parts"]["recency"] == pytest.approx(share)


@row("A recent memory ranks above an old one that says as much", "default")
def test_a_row_recent_first(repo: Path) -> None:
    old = added(repo, "The lantern of the barn is lit.", now="2026-01-01T09:00:00Z")
    young = added(repo, "The lantern of the mill is lit.")
    assert [hit["id"] for hit in hits(repo, "lantern")] == [young, old]


@row("Each retrieval is counted, with its time, apart from when the memory was made", "default")
def test_a_row_access(repo: Path) -> None:
    id_ = added(repo, "The lantern of the barn is lit.")
    done(repo, "search", "lantern", now=LATER)
    done(repo, "show", id_, now=NEXT_DAY)
    derived = done(repo, "show", id_, "--no-touch", now=NEXT_DAY)["derived"]
    assert (derived["retrievals"], derived["last"]) == (2, NEXT_DAY)
    assert memories(repo)[id_].created == parse_time(NOW)


@row("Reading writes no file: retrievals are buffered until a run or a hundred of them", "default")
def test_a_row_batches(repo: Path) -> None:
    id_ = added(repo, "The lantern of the barn is lit.")
    before, head = files(repo), git(repo, "rev-parse", "HEAD")
    done(repo, "show", id_)
    for n in range(99):
        assert not [*repo.rglob(".git/**/used-*.jsonl")] or n > 80
        done(repo, "show", id_)
    assert len([*repo.rglob(".git/**/used-*.jsonl")]) == 1
    assert (files(repo), git(repo, "rev-parse", "HEAD")) == (before, head)
    done(repo, "run", now=LATER)
    assert done(repo, "show", id_, "--no-touch")["derived"]["retrievals"] == 100


@row("What is retrieved often ranks higher", "default")
def test_a_row_boost(repo: Path) -> None:
    id_ = added(repo, "The lantern of the barn is lit.")
    assert hits(repo, "lantern")[0]["parts"].get("access", 0) == 0
    done(repo, "show", id_)
    assert hits(repo, "lantern")[0]["parts"]["access"] == pytest.approx(0.02)


@row(
    "accessCount and lastAccessed are fields of the header",
    "documented",
    *ENGRAM,
    "manifests of runs",
)
def test_a_row_access_fields(repo: Path) -> None:
    id_ = added(repo, "The lantern of the barn is lit.")
    done(repo, "show", id_)
    done(repo, "run", now=LATER)
    assert {"accessCount", "lastAccessed"}.isdisjoint(memories(repo)[id_].fields)


# -- 5. contradictions ---------------------------------------------------------------------------


@row(
    "A contradiction that a model is sure of is resolved, undated or not",
    "documented",
    *ENGRAM,
    "need dated evidence",
)
def test_a_row_resolved(tmp_path: Path) -> None:
    pair = compared(new(tmp_path))
    assert pair["old"].status == "superseded"
    assert pair["old"].superseded_by == (pair["new"].id,)
    assert pair["new"].supersedes == (pair["old"].id,)
    assert pair["old"].superseded_at is not None


@row(
    "What a model confirms is resolved without evidence that is dated",
    "documented",
    *ENGRAM,
    "need dated evidence",
)
def test_a_row_undated_waits(repo: Path) -> None:
    ids = {added(repo, HATES), added(repo, LOVES, now=LATER)}
    done(repo, "run", now=NEXT_DAY)
    assert {memories(repo)[id_].standing for id_ in ids} == {"contested"}
    assert len(done(repo, "resolve")["contradictions"]) == 1


@row("A contradiction of confidence 0.9 or less is flagged and not resolved", "classic")
def test_a_row_flagged(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    ids = {added(repo, HATES), added(repo, LOVES, now=LATER)}
    done(repo, "run", now=NEXT_DAY)
    assert {memories(repo)[id_].status for id_ in ids} == {"active"}
    assert {memories(repo)[id_].standing for id_ in ids} == {"contested"}
    (case,) = done(repo, "resolve")["contradictions"]
    assert {m["id"] for m in case["memories"]} == ids


@row("The case is logged under corrections with its reasoning", "classic")
def test_a_row_corrections(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    pair = compared(repo)
    (case,) = (repo / "corrections").glob("*.md")
    text = case.read_text("utf-8")
    assert "the same key has another value; stated on 2026-02-05, newer than 2026-01-05" in text
    assert (pair["old"].id in text, pair["new"].id in text) == (True, True)


@row("A superseded memory is excluded by default, found when asked for, and restored", "classic")
def test_a_row_superseded(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    pair = compared(repo)
    assert [h["id"] for h in hits(repo, "watering", now=NEXT_DAY)] == [pair["new"].id]
    every = done(repo, "search", "watering", "--status", "superseded", now=NEXT_DAY)["hits"]
    assert [h["id"] for h in every] == [pair["old"].id]
    entries = done(repo, "log", "--memory", pair["old"].id)["entries"]
    assert any(entry["op"] == "supersede" for entry in entries)
    (commit,) = git(repo, "log", "--grep=^Memrepo-Op: supersede", "--format=%H").split()
    done(repo, "revert", commit, now=NEXT_DAY)
    assert memories(repo)[pair["old"].id].status == "active"


@row(
    "A contradiction is looked for whenever a memory is stored",
    "documented",
    *ENGRAM,
    "What `add`, an import or a merge brought is compared by the next run",
)
def test_a_row_compared_by_runs(repo: Path) -> None:
    ids = {added(repo, HATES), added(repo, LOVES)}
    assert done(repo, "resolve")["contradictions"] == []
    done(repo, "run", now=NEXT_DAY)
    (case,) = done(repo, "resolve")["contradictions"]
    assert {m["id"] for m in case["memories"]} == ids


@row("A link has one of five types and a strength from 0 to 1, in the header", "default")
def test_a_row_links(repo: Path) -> None:
    one, other = added(repo, "The barn is dry."), added(repo, "The mill is wet.")
    for type_ in ("follows", "references", "contradicts", "supports", "related"):
        done(repo, "link", one, type_, other)
    links = memories(repo)[one].fields["links"]
    assert {link.type for link in links} == {
        *("follows", "references", "contradicts", "supports", "related")
    }
    assert {(link.target, link.strength) for link in links} == {(other, 1.0)}
    done(repo, "link", other, "related", one, "--strength", "0.4")
    assert f"\nlinks: [related {one} 0.4]\n" in (repo / memories(repo)[other].path).read_text(
        "utf-8"
    )
    assert memrepo(repo, "link", other, "follows", one, "--strength", "1.1").exit == 2
    assert memrepo(repo, "link", one, "likes", other).exit == 2


@row("Related memories are found by their links, both ways", "default")
def test_a_row_related(repo: Path) -> None:
    one, other = added(repo, "The barn is dry."), added(repo, "The mill is wet.")
    done(repo, "link", one, "supports", other)
    (there,) = done(repo, "related", one)["related"]
    (back,) = done(repo, "related", other)["related"]
    assert (there["id"], there["way"], back["id"], back["way"]) == (other, "to", one, "from")


@row("Consolidation links memories that name the same, not all that are close in time", "default")
def test_a_row_expanded(repo: Path) -> None:
    ids = {
        added(repo, "The Kestrel host keeps the backups of Mara."),
        added(repo, "The fan of the Kestrel host runs all day."),
    }
    added(repo, "The mill has a roof of slate.")  # at the same time, and of other things
    done(repo, "run", now=LATER)
    links = [(m.id, x.target) for m in memories(repo).values() for x in m.fields.get("links", ())]
    assert [{*link} for link in links] == [ids]


@row("Agents have the tools memory_related and memory_thread_context", "default")
def test_a_row_tools(tmp_path: Path) -> None:
    repo = talked(tmp_path, turn("09:00", "Ann.") + turn("09:05", "Ben."))
    one, other = (m.id for m in memories(repo).values())
    done(repo, "link", one, "supports", other)

    async def work(client: Client) -> tuple[str, str]:
        related = await client.call_tool("memory_related", {"id": one})
        context = await client.call_tool("memory_thread_context", {"id": other})
        return answer_of(related), answer_of(context)

    related, context = with_client(repo, work)
    assert other in related
    assert context.index("Ann.") < context.index("Ben.")


# -- 7. compression ------------------------------------------------------------------------------


def small(repo: Path) -> Path:
    """Bound compression so that sixty memories are many."""
    return configured(repo, "[compression]\ntrigger = 40\nkeep = 5")


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of the profile classic that compressed some of sixty; read only."""
    repo = small(new(tmp_path_factory.mktemp("compressed"), "--profile", "classic"))
    stored(repo, hoard(90))
    done(repo, "run")
    return repo


@row("Compression is on, from a thousand memories, and keeps the newest three hundred", "classic")
def test_a_row_compression_numbers(tmp_path: Path) -> None:
    repo = new(tmp_path, "--profile", "classic")
    rows_ = {r["key"]: r["value"] for r in done(repo, "config")["keys"]}
    assert [rows_[f"compression.{k}"] for k in ("enabled", "trigger", "keep", "below")] == [
        *(True, 1000, 300, 0.3)
    ]
    assert rows_["compression.protected_tags"] == ["commitment", "preference", "decision"]


@row("Only memories of an importance below 0.3 are compressed", "classic")
def test_a_row_compression_gate(compressed: Path) -> None:
    old = [m for m in memories(compressed).values() if m.status == "archived"]
    assert old
    assert all(importance(compressed, m.id)["score"] < 0.3 for m in old)


@row("Sources of a summary are archived and not deleted, and found when asked for", "classic")
def test_a_row_archived(compressed: Path) -> None:
    old = [m for m in memories(compressed).values() if m.status == "archived"]
    assert all(m.archived_at and m.compressed_into for m in old)
    word = old[0].body.split()[-1].strip(".")
    args = ("search", *old[0].body.split()[:6], word, "--no-touch")
    assert old[0].id not in {h["id"] for h in done(compressed, *args, "-k", "60")["hits"]}
    assert old[0].id in {
        h["id"] for h in done(compressed, *args, "--status", "archived", "-k", "60")["hits"]
    }


@row("A summary has text, key facts, entities and time range, and names its sources", "classic")
def test_a_row_summary(compressed: Path) -> None:
    found = memories(compressed)
    summary = next(m for m in found.values() if m.type == "summary")
    targets = {link.target for link in summary.fields["links"]}
    assert targets == {m.id for m in found.values() if m.compressed_into == summary.id}
    for words in (
        "\n## Key facts\n\n- ",
        "\n## Entities\n\nAlpha\n",
        "from 2026-02-20 to 2026-02-20",
    ):
        assert words in summary.body


@row("Tags, entities and flags protect a memory from compression", "classic")
def test_a_row_protected(compressed: Path) -> None:
    kept = hoard(90)[8::10]
    assert len(kept) == len(KEPT)
    assert {memories(compressed)[m.id].status for m in kept} == {"active"}


@row("A compression that went too far is reverted", "classic")
def test_a_row_compression_reverted(tmp_path: Path) -> None:
    repo = small(new(tmp_path, "--profile", "classic"))
    stored(repo, hoard(60))
    done(repo, "run")
    (commit, *_) = git(repo, "log", "--grep=^Memrepo-Op: compress", "--format=%H").split()
    old = {i: m.compressed_into for i, m in memories(repo).items() if m.status == "archived"}
    done(repo, "revert", commit, now=LATER)
    after = {i: m.compressed_into for i, m in memories(repo).items() if m.status == "archived"}
    (gone,) = {*old.values()} - {*memories(repo)}
    assert after == {i: into for i, into in old.items() if into != gone} != old


@row(
    "Old memories of low importance are compressed by default",
    "documented",
    *ENGRAM,
    "`compression.enabled`",
    "`compression.below`",
)
def test_a_row_compression_off(tmp_path: Path) -> None:
    repo = small(new(tmp_path))
    stored(repo, hoard(60))
    done(repo, "run")
    assert {m.status for m in memories(repo).values()} == {"active"}


@row("Summaries lie in a folder summaries", "documented", *ENGRAM, "in the layer of its sources")
def test_a_row_summaries_folder(compressed: Path) -> None:
    summary = next(m for m in memories(compressed).values() if m.type == "summary")
    assert summary.path.startswith("memories/knowledge/")


# -- 8. threads ----------------------------------------------------------------------------------


def talked(base: Path, log: str) -> Path:
    logs = base / "agent" / "memory"
    logs.mkdir(parents=True)
    (logs / "2026-02-01.md").write_text(f"# 2026-02-01\n\n{log}", encoding="utf-8")
    return begin(base, base / "agent")


def turn(clock: str, text: str, key: str = "") -> str:
    return f"## {clock} Turn\n\n" + (f"Session key: {key}\n" if key else "") + f"{text}\n\n"


def threads(repo: Path) -> list[list[str]]:
    """Return the texts of each thread, oldest first."""
    found = memories(repo)
    rows_ = done(repo, "thread")["threads"]
    return [[found[id_].body.splitlines()[-1] for id_ in one["members"]] for one in rows_[::-1]]


@row("A thread begins where the session key changes", "default")
def test_a_row_key(tmp_path: Path) -> None:
    log = turn("09:00", "Ann.", "a:1") + turn("09:05", "Ben.", "a:1") + turn("09:10", "Cid.", "b:2")
    assert threads(talked(tmp_path, log)) == [["Ann.", "Ben."], ["Cid."]]


@row("A thread begins after a gap of more than thirty minutes", "default")
def test_a_row_gap(tmp_path: Path) -> None:
    log = turn("09:00", "Ann.") + turn("09:30", "Ben.") + turn("10:01", "Cid.")
    assert threads(talked(tmp_path, log)) == [["Ann.", "Ben."], ["Cid."]]


@row("A turn without a key after a gap does not join the thread of the next session", "default")
def test_a_row_unkeyed(tmp_path: Path) -> None:
    log = turn("09:00", "Ann.", "a:1") + turn("10:00", "Ben.") + turn("10:10", "Cid.", "b:2")
    assert threads(talked(tmp_path, log)) == [["Ann."], ["Ben."], ["Cid."]]


@row("The title of a thread is made of its three best keywords", "default")
def test_a_row_title(tmp_path: Path) -> None:
    log = turn("09:00", "Lantern lantern barn barn ladder.") + turn("12:00", "The weather was dry.")
    (_, first) = done(talked(tmp_path, log), "thread")["threads"]
    assert first["title"] == "Lantern, Barn, Ladder"


@row("The context of a conversation is all of its thread, in order", "default")
def test_a_row_context(tmp_path: Path) -> None:
    repo = talked(tmp_path, turn("09:00", "Ann.") + turn("09:05", "Ben."))
    (thread,) = done(repo, "thread")["threads"]
    read = done(repo, "thread", thread["members"][1])
    assert [m["id"] for m in read["memories"]] == thread["members"]


@row("A memory may belong to several threads, and a thread leads to others", "default")
def test_a_row_linked_threads(tmp_path: Path) -> None:
    log = turn("09:00", "Ann.", "a:1") + turn("12:00", "Ben.", "a:1")
    repo = talked(tmp_path, log)
    late, early = done(repo, "thread")["threads"]
    assert late["linked"] == [early["id"]]
    (note, *_) = early["members"]
    path = repo / memories(repo)[note].path
    path.write_text(
        path.read_text("utf-8").replace("\ncreated:", "\nthreads: [roof]\ncreated:"), "utf-8"
    )
    git(repo, "commit", "-qam", "name a thread", "--no-verify")
    assert set(done(repo, "show", note, "--no-touch")["threads"]) == {early["id"], "roof"}


@row("A folder threads holds a file for each thread", "documented", *ENGRAM, "no file names them")
def test_a_row_no_thread_files(tmp_path: Path) -> None:
    repo = talked(tmp_path, turn("09:00", "Ann."))
    assert not [*repo.glob("threads/*")]


# -- 9. topics -----------------------------------------------------------------------------------


@row("Topics are the words of the highest TF times IDF, with their score", "default")
def test_a_row_topics(repo: Path) -> None:
    for n in range(6):
        added(repo, f"The {BEDS[n]} grow well." if n else "Kestrel, kestrel, kestrel.")
    found = done(repo, "topics")["topics"]
    assert found[0]["term"] == "kestrel"
    assert "grow" not in {t["term"] for t in found[:6]}
    assert [t["score"] for t in found] == sorted((t["score"] for t in found), reverse=True)


@row("Topics are stored in meta.json", "documented", *ENGRAM, "`views/TOPICS.md`")
def test_a_row_topics_page(repo: Path) -> None:
    added(repo, "Kestrel overheats.")
    done(repo, "run", now=LATER)
    assert "kestrel" in (repo / "views" / "TOPICS.md").read_text("utf-8")


@row("Topics are compared over time", "default")
def test_a_row_trend(repo: Path) -> None:
    added(repo, "The greenhouse needs water.")
    for text in ("Kestrel overheats.", "Kestrel reboots.", "Larder hums."):
        added(repo, text, now="2026-04-10T09:00:00Z")
    found = done(repo, "topics", now="2026-04-11T09:00:00Z")
    assert "kestrel" in {t["term"] for t in found["rising"]}
    assert "greenhouse" not in {t["term"] for t in found["rising"]}


# -- configuration -------------------------------------------------------------------------------

CONSTANTS = """
importanceScoring.enabled chunking.enabled chunking.targetTokens chunking.minTokensToChunk
chunking.splitOn retrieval.boostAccessCount retrieval.excludeStatuses
contradictionDetection.enabled contradictionDetection.similarityThreshold
contradictionDetection.minConfidence contradictionDetection.useLlmVerification
contradictionDetection.createAuditTrail accessTracking.batchUpdates
accessTracking.flushDuringConsolidation accessTracking.bufferMaxSize
compression.archiveNotDelete compression.protectEntityRefs topicExtraction.enabled
topicExtraction.runDuringConsolidation topicExtraction.topN
""".split()


@row(
    "The plan has twenty-eight keys",
    "documented",
    "configuration.md",
    "Names of the engram plan",
    "are constants",
)
def test_a_row_configuration(tmp_path: Path) -> None:
    names = [*CONSTANTS, *(plan for plan, *_ in EFFECTS)]
    assert len(set(names)) == 28
    text = section("configuration.md", "Names of the engram plan")
    parts = {part for name in CONSTANTS for part in name.split(".")}
    parts |= {plan for plan, *_ in EFFECTS}
    assert [part for part in parts if f"`{part}`" not in text] == []
    repo = new(tmp_path)
    path = repo / "memrepo.toml"
    before = path.read_text("utf-8")
    for name in CONSTANTS:
        table, _, key = name.rpartition(".")
        path.write_text(f"{before}\n[{table}]\n{key} = false\n", encoding="utf-8")
        answer = memrepo(repo, "status")
        assert answer.exit == 2
        assert "is not a configuration key" in answer.error["message"]


def _recency(repo: Path, value: str) -> object:
    configured(repo, f"[recall]\nrecency = {value}")
    added(repo, "The lantern is lit.")
    return hits(repo, "lantern")[0]["parts"].get("recency", 0)


def _resolution(repo: Path, value: str) -> object:
    configured(repo, f"[contradictions]\nauto_resolve = {value}")
    old = compared(repo)["old"]
    return old.status, old.standing


def _tracking(repo: Path, value: str) -> object:
    configured(repo, f"[access]\nenabled = {value}")
    id_ = added(repo, "The lantern is lit.")
    done(repo, "show", id_)
    return done(repo, "show", id_, "--no-touch")["derived"]["retrievals"]


def _compression(key: str) -> Callable[[Path, str], object]:
    def play(repo: Path, value: str) -> object:
        usual = {"enabled": "true", "trigger": "40", "keep": "5"} | {key: value}
        said = "\n".join(f"{name} = {given}" for name, given in usual.items())
        configured(repo, f"[compression]\n{said}")
        stored(repo, hoard(60) + [_named(n) for n in range(100, 112)])
        done(repo, "run")
        return sum(m.status == "archived" for m in memories(repo).values())

    return play


def _named(number: int) -> Any:
    born = BORN.replace(month=1)
    return memory(number, f"Maybe Holt lost key {number}.", tags=("vow",), created=born)


EFFECTS: tuple[tuple[str, Callable[[Path, str], object], str, str], ...] = (
    ("retrieval.recencyWeight", _recency, "0.2", "0.5"),
    ("contradictionDetection.autoResolve", _resolution, "true", "false"),
    ("accessTracking.enabled", _tracking, "true", "false"),
    ("compression.enabled", _compression("enabled"), "true", "false"),
    ("compression.triggerAt", _compression("trigger"), "40", "100"),
    ("compression.recentToKeep", _compression("keep"), "5", "70"),
    ("compression.protectedTags", _compression("protected_tags"), '["vow"]', '["fact"]'),
    ("compression.importanceThreshold", _compression("below"), "0.45", "0.1"),
)
"""Keys of the plan: what shows the effect of ours, and two values with different effects."""
for _plan, _play, _usual, _other in EFFECTS:

    def _key_row(
        tmp_path: Path,
        play: Callable[[Path, str], object] = _play,
        usual: str = _usual,
        other: str = _other,
    ) -> None:
        (tmp_path / "usual").mkdir()
        (tmp_path / "other").mkdir()
        assert play(new(tmp_path / "usual"), usual) != play(new(tmp_path / "other"), other)

    setattr(
        sys.modules[__name__],
        f"test_a_row_key_{_plan.replace('.', '_')}",
        row(f"What {_plan} sets can be set", "classic")(_key_row),
    )


@row("init with the profile classic turns on all of the above, and says so", "classic")
def test_a_row_init(tmp_path: Path) -> None:
    said = memrepo(tmp_path, "init", "repo", "--profile", "classic", as_json=False).out
    assert "profile classic" in said
    for rules in ("importance", "compression"):
        assert rules in said
    repo = tmp_path / "repo"
    given = {r["key"]: r["value"] for r in done(repo, "config")["keys"]}
    assert (given["profile"], given["lifecycle.profile"]) == ("personal", "classic")
    assert subjects(repo) == ["Create knowledge repository"]
    done(tmp_path, "init", "plain")
    again = done(tmp_path, "init", "plain", "--profile", "classic")
    assert any("lifecycle.profile classic" in warning for warning in again["warnings"])


def test_each_row_has_an_end() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 62)
