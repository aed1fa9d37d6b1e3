"""The promises of the notes in four tiers, row by row: clocks, rotation, promotion, search."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from driving import classic, configure, copied, done, files, git, memories, memrepo
from seed_rows import DAY, HOUR, SECOND, START, assert_each_row_has_an_end, at, row

CLEAR = ("migrating.md", "Differences from context-clear")


def test_the_table_is_whole() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 40)


BODY = """\
The crew met in Horten about the rudder. Brandt offered to weld it for 300 EUR.

Ines asked about the mast as well. The mast has a crack of 4 cm near the spreader, and nobody
knows how long it has been there. Brandt would take the mast down with his crane on Tuesday.

They agreed to wait for the insurance. Solveig stays in the harbour until a letter comes.
"""


@pytest.fixture(scope="module")
def _base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("tiers")
    (base / "workspace").mkdir()
    done(base, "init", "repo")
    argv = ("add", BODY, "--type", "note", "--title", "Rudder and mast", "--tag", "boat")
    done(base / "repo", *argv)
    return base


@pytest.fixture
def repo(_base: Path, tmp_path: Path) -> Path:
    """Return a repository with one note, made at the start; yours to change."""
    return copied(_base, tmp_path)


def note(repo: Path) -> Any:
    (found,) = (m for m in memories(repo).values() if m.is_note)
    return found


def tier(repo: Path, span: timedelta) -> str:
    """Return the tier of the note once a run at that moment is over."""
    done(repo, "run", now=at(span))
    return str(note(repo).tier)


def retrieve(repo: Path, span: timedelta) -> None:
    done(repo, "show", note(repo).id, now=at(span))


# -- the clocks ------------------------------------------------------------------------------------


CLOCKS = {
    "a note is hot for three hours": (3 * HOUR - SECOND, "hot", "warm"),
    "a note is warm for seven days": (7 * DAY - SECOND, "warm", "gist"),
    "a note that nobody asked for in more than fourteen days is forgotten": (
        *(14 * DAY, "gist", "forgotten"),
    ),
}
for _promise, (_last, _before, _after) in CLOCKS.items():

    def _clock(repo: Path, last: Any = _last, names: Any = (_before, _after)) -> None:
        assert (tier(repo, last), tier(repo, last + SECOND)) == names

    setattr(sys.modules[__name__], f"test_a_row_{_before}_ends", row(_promise, "default")(_clock))


@row("a forgotten note is deleted after thirty days in the classic profile", "classic")
def test_a_row_deleted(repo: Path) -> None:
    classic(repo)
    assert tier(repo, 15 * DAY) == "forgotten"
    assert tier(repo, 45 * DAY - HOUR) == "forgotten"
    done(repo, "run", now=at(45 * DAY + HOUR))
    assert not any(m.is_note for m in memories(repo).values())


@row("one key by itself deletes forgotten notes", "classic")
def test_a_row_deleted_by_key(repo: Path) -> None:
    configure(repo, "tiers.clean_after", "30d")
    assert tier(repo, 15 * DAY) == "forgotten"
    done(repo, "run", now=at(45 * DAY + HOUR))
    assert not any(m.is_note for m in memories(repo).values())


@row(
    "every profile deletes what was forgotten",
    "documented",
    *CLEAR,
    "A forgotten note stays in the tree",
)
def test_a_row_kept(repo: Path) -> None:
    assert tier(repo, 15 * DAY) == "forgotten"
    assert tier(repo, 400 * DAY) == "forgotten"


@row("what a user marked is never deleted", "classic")
def test_a_row_marked_stays(repo: Path) -> None:
    classic(repo)
    assert tier(repo, 15 * DAY) == "forgotten"
    retrieve(repo, 16 * DAY)
    done(repo, "run", now=at(16 * DAY))
    assert note(repo).user_marked
    assert tier(repo, 40 * DAY) == "forgotten"
    assert tier(repo, 100 * DAY) == "forgotten"


@row(
    "ages are those of the file's time of change",
    "documented",
    *CLEAR,
    "counts from its creation or the last retrieval",
)
def test_a_row_mtime(repo: Path) -> None:
    (repo / note(repo).path).touch()
    assert tier(repo, 3 * HOUR) == "warm"


@row("the tiers are folders that a note moves through", "documented", *CLEAR, "A tier is a field")
def test_a_row_folders(repo: Path) -> None:
    path = note(repo).path
    assert tier(repo, 8 * DAY) == "gist"
    assert note(repo).path == path


# -- what each tier gives --------------------------------------------------------------------------


@row("hot notes are put into a session", "default")
def test_a_row_injected(repo: Path) -> None:
    assert "Brandt offered to weld it" in session(repo, HOUR)
    done(repo, "run", now=at(4 * HOUR))
    assert "Brandt offered to weld it" not in session(repo, 5 * HOUR)


def session(repo: Path, span: timedelta) -> str:
    return str(done(repo, "session", "show", now=at(span))["context"])


@row("a gist is a title, tags and a summary, and less than the note", "default")
def test_a_row_gist(repo: Path) -> None:
    assert tier(repo, 8 * DAY) == "gist"
    gist = note(repo).fields["gist"]
    assert gist.title == "Rudder and mast"
    assert "boat" in gist.tags
    assert 0 < len(gist.summary) < len(BODY)


@row("the original of a gist stays as it was", "default")
def test_a_row_original(repo: Path) -> None:
    assert tier(repo, 8 * DAY) == "gist"
    assert note(repo).body == BODY.strip()
    shown = done(repo, "show", note(repo).id, "--no-touch", now=at(8 * DAY))
    assert shown["memory"]["text"] == BODY.strip()


@row("recall is handed the gist of an old note", "default")
def test_a_row_recall_gist(repo: Path) -> None:
    assert tier(repo, 8 * DAY) == "gist"
    (hit,) = search(repo, 8 * DAY, "mast", "crane", "--no-touch")
    assert hit["tier"] == "gist"
    assert len(hit["text"]) < len(BODY)


def search(repo: Path, span: timedelta, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(repo, "search", *words, now=at(span))["hits"]
    return found


@row("each tier says how sure an answer from it is", "default")
def test_a_row_confidence(repo: Path) -> None:
    said = memrepo(repo, "health", as_json=False).out.splitlines()
    words = {line.split()[0]: " ".join(line.split()[2:4]) for line in said}
    for name, sure in {"hot": "high", "warm": "high", "gist": "medium"}.items():
        assert words[name].startswith(sure)
    assert words["forgotten"] == "very low"


# -- a retrieval brings back -----------------------------------------------------------------------


@row("a retrieval leaves a hot note where it is", "default")
def test_a_row_back_hot(repo: Path) -> None:
    retrieve(repo, HOUR)
    assert tier(repo, 2 * HOUR) == "hot"


@row("a retrieval brings a warm note back to hot, and its time begins anew", "default")
def test_a_row_back_warm(repo: Path) -> None:
    assert tier(repo, 4 * HOUR) == "warm"
    retrieve(repo, 5 * HOUR)
    assert tier(repo, 6 * HOUR) == "hot"
    assert tier(repo, 8 * HOUR) == "warm"


@row("a retrieval brings a gist back to hot with its original", "default")
def test_a_row_back_gist(repo: Path) -> None:
    assert tier(repo, 8 * DAY) == "gist"
    retrieve(repo, 8 * DAY + HOUR)
    assert tier(repo, 8 * DAY + 2 * HOUR) == "hot"
    (hit,) = search(repo, 8 * DAY + 2 * HOUR, "mast", "crane")
    assert hit["text"] == BODY.strip()


@row("a retrieval brings a forgotten note back to warm and marks it", "default")
def test_a_row_back_forgotten(repo: Path) -> None:
    assert tier(repo, 15 * DAY) == "forgotten"
    retrieve(repo, 16 * DAY)
    assert tier(repo, 16 * DAY + HOUR) == "warm"
    assert note(repo).user_marked


# -- promotion -------------------------------------------------------------------------------------


def nominated(repo: Path, *spans: timedelta, now: timedelta) -> list[str]:
    for span in spans:
        retrieve(repo, span)
    found = memrepo(repo, "health", now=at(now)).data["candidates"]
    return [why for one in found for why in one["why"]]


@row("three retrievals in seven days nominate a note", "default")
def test_a_row_week(repo: Path) -> None:
    assert nominated(repo, DAY, 2 * DAY, now=3 * DAY) == []
    assert nominated(repo, 3 * DAY, now=7 * DAY) == ["3 retrievals in 7 days"]
    assert nominated(repo, now=8 * DAY) == []


@row("five retrievals in fourteen days nominate a note", "default")
def test_a_row_fortnight(repo: Path) -> None:
    spans = [DAY * n for n in (1, 3, 5, 9)]
    assert nominated(repo, *spans, now=13 * DAY) == []
    assert nominated(repo, 13 * DAY, now=14 * DAY) == ["5 retrievals in 14 days"]
    assert nominated(repo, now=15 * DAY) == []


@row("eight retrievals in all nominate a note", "default")
def test_a_row_ever(repo: Path) -> None:
    spans = [DAY * 7 * n for n in range(1, 8)]
    assert nominated(repo, *spans, now=50 * DAY) == []
    assert "8 retrievals in all" in nominated(repo, 56 * DAY, now=56 * DAY)


@row("what a user marked is nominated", "default")
def test_a_row_marked(repo: Path) -> None:
    assert tier(repo, 15 * DAY) == "forgotten"
    assert "marked by the user" in nominated(repo, 16 * DAY, now=16 * DAY)


@row("the report of the nominated notes is markdown", "default")
def test_a_row_report(repo: Path, tmp_path: Path) -> None:
    nominated(repo, DAY, 2 * DAY, 3 * DAY, now=3 * DAY)
    out = tmp_path / "out"
    done(repo, "export", "refcount", out, now=at(3 * DAY))
    text = (out / "promote_report.md").read_text()
    assert text.startswith("# Promotion report")
    assert "## Rudder and mast" in text


@row("what is looked for often becomes a memory by itself, and is not nominated again", "default")
def test_a_row_promoted(repo: Path) -> None:
    nominated(repo, DAY, 2 * DAY, 3 * DAY, now=3 * DAY)
    told = memrepo(repo, "run", now=at(3 * DAY + HOUR), as_json=False).out
    assert "of them" not in told, "a nominated note is of no statements read"
    assert note(repo).promoted
    (made,) = (m for m in memories(repo).values() if m.origin == "promotion")
    page = (repo / "MEMORY.md").read_text()
    assert made.id in page.partition("## Knowledge")[2]
    assert "## Stored" not in page  # nobody did
    assert nominated(repo, 4 * DAY, 4 * DAY + HOUR, 4 * DAY + 2 * HOUR, now=5 * DAY) == []


@pytest.mark.parametrize(
    ("title", "text", "heading"),
    [
        ("Invoices", "Never send invoices before the tenth.", "Rules"),
        ("Ines", "Ines prefers mails over calls.", "Preferences"),
        ("Berth", "We decided to move the boat to Larvik in spring.", "Decisions"),
        ("Wiki backup", "The wiki's backup runs at 03:40, onto the second disk.", "Knowledge"),
    ],
)
def test_what_is_looked_for_often_is_below_the_heading_of_its_kind(
    repo: Path, title: str, text: str, heading: str
) -> None:
    id_ = done(repo, "add", text, "--type", "note", "--title", title)["id"]
    for n in (1, 2, 3):
        done(repo, "show", id_, now=at(n * DAY))
    done(repo, "run", now=at(3 * DAY + HOUR))
    (made,) = (m for m in memories(repo).values() if m.origin == "promotion")
    below = (repo / "MEMORY.md").read_text().partition(f"## {heading}\n")[2]
    assert made.id in below.partition("\n## ")[0]


# -- skills ----------------------------------------------------------------------------------------

LESSON = """\
How to rig the mast of the Solveig. Step 1: loosen the shrouds. Step 2: pull the halyard, and never
let go of it before the boom is tied.
"""


@pytest.fixture
def skilled(repo: Path, tmp_path: Path) -> Path:
    """Return the folder of skills of a repository whose note tells how something is done."""
    added = done(repo, "add", LESSON, "--type", "note", "--title", "Rigging the mast")["id"]
    for n in (1, 2, 3):
        done(repo, "show", added, now=at(n * DAY))
    for name in ("mast-rigging", "paint"):
        (tmp_path / "skills" / name).mkdir(parents=True)
    return tmp_path / "skills"


@row("a refresh moves the retrospective of a skill into its folder", "default")
def test_a_row_retrospect(repo: Path, skilled: Path) -> None:
    found = done(repo, "session", "refresh", "--skills", skilled, now=at(4 * DAY))
    path = skilled / "mast-rigging" / "docs" / "retrospect.md"
    assert found["retrospects"] == [str(path)]
    assert "never\nlet go of it before the boom is tied" in path.read_text()
    (one,) = (m for m in memories(repo).values() if m.title == "Rigging the mast")
    assert one.promoted
    again = done(repo, "session", "refresh", "--skills", skilled, now=at(5 * DAY))
    assert again["retrospects"] == []
    assert path.read_text().count("## Rigging the mast") == 1


@row("without a folder of skills a method goes the way of every memory", "default")
def test_a_row_no_skills(repo: Path, skilled: Path) -> None:
    found = done(repo, "session", "refresh", now=at(4 * DAY))
    assert "skills" in {one["destination"] for one in found["candidates"]}
    done(repo, "run", now=at(4 * DAY + HOUR))
    assert any("shrouds" in m.body and not m.is_note for m in memories(repo).values())


@row("a refresh organises, nominates and begins the session anew", "default")
def test_a_row_refresh(repo: Path) -> None:
    for n in (1, 2, 3):
        retrieve(repo, n * DAY)
    found = done(repo, "session", "refresh", "--id", "second", now=at(3 * DAY + 4 * HOUR))
    assert (len(found["moves"]), note(repo).tier) == (1, "warm")
    assert [one["title"] for one in found["candidates"]] == ["Rudder and mast"]
    assert found["session"] == "second"


# -- layered search --------------------------------------------------------------------------------


@pytest.fixture
def layers(repo: Path) -> Path:
    """Return a repository with a forgotten note, a gist and a hot one about one thing."""
    argv = ("--type", "note", "--title", "Mast again", "--tag", "crane")
    text = "The crane for the mast is booked for Friday. The yard wants cash for the crane."
    done(repo, "add", text, *argv, now=at(12 * DAY))
    text = "Ines called about the crane and the mast of the neighbour."
    done(repo, "add", text, "--type", "note", "--title", "Call", now=at(20 * DAY))
    done(repo, "run", now=at(20 * DAY))
    return repo


def layered(repo: Path, *words: str) -> Any:
    return done(repo, "search", "--layered", "--no-touch", *words, now=at(20 * DAY))


@row("a search goes from hot to forgotten and stops where it finds", "default")
def test_a_row_order(layers: Path) -> None:
    assert tiers_of(layered(layers, "mast", "crane")) == ["hot"]
    text = "Brandt takes cash for the crane."
    done(layers, "add", text, "--type", "note", "--title", "Boom", now=at(16 * DAY))
    done(layers, "run", now=at(20 * DAY))
    assert tiers_of(layered(layers, "crane", "cash")) == ["warm"]
    assert tiers_of(layered(layers, "crane", "Friday")) == ["gist"]
    assert tiers_of(layered(layers, "crane", "Tuesday")) == ["forgotten"]


def tiers_of(found: Any) -> list[str]:
    return [hit["tier"] for hit in found["hits"]]


@row("a search takes two to five distinctive words", "default")
def test_a_row_words(layers: Path) -> None:
    for words in (("mast",), ("mast", "crane", "yard", "cash", "rudder", "boom")):
        answer = memrepo(layers, "search", "--layered", *words, now=at(20 * DAY))
        assert answer.exit == 2
        assert "expected 2 to 5" in answer.error["message"]
    five = ("mast", "crane", "rudder", "insurance", "harbour")
    assert tiers_of(layered(layers, *five)) == ["forgotten"]


@row("more than three hits are not read: the words are to be narrowed", "default")
def test_a_row_too_many(layers: Path) -> None:
    for n in range(4):
        argv = ("--type", "note", "--title", f"Watch {n}")
        done(layers, "add", f"Night watch {n} saw the harbour light.", *argv, now=at(20 * DAY))
    found = memrepo(
        layers, "search", "--layered", "harbour", "light", now=at(20 * DAY), as_json=False
    )
    assert "more than 3" in found.out
    assert "narrower words" in found.out
    assert "Night watch" not in found.out


@row("a search that finds nothing says so, with three possible reasons", "default")
def test_a_row_nothing(layers: Path) -> None:
    found = memrepo(
        layers, "search", "--layered", "submarine", "periscope", now=at(20 * DAY), as_json=False
    )
    assert found.out.count("\n- ") == 3
    assert "never stored" in found.out


@row("each hit of a search counts as a retrieval", "default")
def test_a_row_counted(layers: Path, tmp_path: Path) -> None:
    done(layers, "search", "--layered", "crane", "Friday", now=at(20 * DAY))
    entry = next(e for k, e in refcount(layers, tmp_path, 20 * DAY).items() if "mast-again" in k)
    assert entry["total"] == 1
    assert entry["timestamps"] == [int((START + 20 * DAY).timestamp())]


@row("forgotten notes come after every other hit in the classic profile", "classic")
def test_a_row_last(layers: Path) -> None:
    words = ("Brandt", "mast", "crane", "insurance", "rudder", "--no-touch")
    assert search(layers, 20 * DAY, *words)[0]["tier"] == "forgotten"
    assert search(classic(layers), 20 * DAY, *words)[-1]["tier"] == "forgotten"


@row(
    "forgotten notes come after every other hit in every profile",
    "documented",
    *CLEAR,
    "ranks it by its score",
)
def test_a_row_by_score(layers: Path) -> None:
    words = ("Brandt", "mast", "crane", "insurance", "rudder", "--no-touch")
    assert search(layers, 20 * DAY, *words)[0]["tier"] == "forgotten"


@row("the agent's instructions name the signals that call for such a search", "default")
def test_a_row_signals(repo: Path) -> None:
    said = memrepo(repo, "session", "snippet", as_json=False).out
    signals = ("talked about before", "agreed on", "notice yourself", "person says so")
    below = said.partition("## When to search in layers")[2].partition("search --layered")[0]
    assert [words for words in signals if words not in below] == []


# -- the counter -----------------------------------------------------------------------------------


def refcount(repo: Path, out: Path, span: timedelta) -> dict[str, Any]:
    done(repo, "export", "refcount", out / "counted", "--force", now=at(span))
    found: dict[str, Any] = json.loads((out / "counted" / "refcount.json").read_text())
    return found


@row("the counter is keyed by tier and file", "default")
def test_a_row_keys(repo: Path, tmp_path: Path) -> None:
    ((key, entry),) = refcount(repo, tmp_path, HOUR).items()
    assert key.startswith("hot/")
    assert key.endswith(".md")
    assert {"total", "7d", "timestamps", "user_marked", "summarized", "created"} == set(entry)


@row("the counter has the retrievals, in all and of seven days", "default")
def test_a_row_totals(repo: Path, tmp_path: Path) -> None:
    for n in (1, 2, 9, 10):
        retrieve(repo, n * DAY)
    (entry,) = refcount(repo, tmp_path, 12 * DAY).values()
    assert (entry["total"], entry["7d"], len(entry["timestamps"])) == (4, 2, 4)


@row("the time of creation survives an import and an export", "default")
def test_a_row_created(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    (folder / "memory_fs" / "warm").mkdir(parents=True)
    (folder / "memory_fs" / "warm" / "keel.md").write_text("The keel of the Solveig is of lead.\n")
    entry = {"total": 2, "7d": 0, "timestamps": [1748073600, 1748160000], "created": 1748000000}
    (folder / "refcount.json").write_text(json.dumps({"warm/keel.md": entry}))
    done(repo, "import", "memory-fs", folder)
    back = next(e for k, e in refcount(repo, tmp_path, HOUR).items() if "keel" in k)
    assert back["created"] == 1748000000


@row("everything is files: nothing but the folder is needed", "default")
def test_a_row_files(repo: Path, tmp_path: Path) -> None:
    assert note(repo).path in files(repo)
    git(tmp_path, "clone", "-q", "repo", "elsewhere")
    shutil.rmtree(repo)
    (hit,) = search(tmp_path / "elsewhere", HOUR, "mast", "crane")
    assert (hit["tier"], hit["text"]) == ("hot", BODY.strip())


@row("among gists a tag answers before the words of the text", "default")
def test_a_row_tags_first(layers: Path) -> None:
    text = "The yard wants cash for the crane, and the crane is old. The yard has two cranes."
    argv = ("--type", "note", "--title", "Yard", "--tag", "yard", "--tag", "crane")
    done(layers, "add", text, *argv, now=at(12 * DAY))
    done(layers, "run", now=at(20 * DAY))
    (hit,) = layered(layers, "yard", "crane")["hits"]
    assert (hit["tier"], hit["title"]) == ("gist", "Yard")
