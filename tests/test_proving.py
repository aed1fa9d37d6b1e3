"""The benchmarks of docs/benchmarks.md: what they ask, what they count, what the page shows."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from docs_parts import PART, ROOT
from driving import LONG

from benchmarks.proving import __main__ as proving
from benchmarks.proving import breaking, finding, modelled, nights, peers, picture, tables
from benchmarks.proving.finding import Corpus, Doc, Question

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
long = pytest.mark.skipif(not LONG, reason="plays many nights: make test-long")
TALK = Corpus(
    docs=(
        Doc(id="a", text="The kiln is fired on Sundays.", speaker="Ada", group="1"),
        Doc(id="b", text="The library opens at ten.", speaker="Tom", group="1", date="2026-03-01"),
        Doc(id="c", text="Ada walks to the harbour.", speaker="Ada", group="2"),
    ),
    questions=(
        Question(text="When is the kiln fired?", gold=frozenset("a")),
        Question(text="Who walks to the harbour?", gold=frozenset("bc")),
    ),
)


@pytest.mark.parametrize("way", finding.PLAIN)
def test_each_way_to_ask_finds_what_says_the_words(way: str) -> None:
    found = finding.PLAIN[way](TALK)
    assert [ids[0] for ids in found] == ["a", "c"]
    figures = finding.figures([TALK], finding.PLAIN[way])
    assert (figures.questions, figures.first, figures.rank) == (2, 1.0, 1.0)
    assert figures.recall in (0.75, 1.0), "b shares no word with the question"


def test_what_is_found_late_or_never_counts_less() -> None:
    figures = finding.figures([TALK], lambda _: [["x", "a"], []])
    assert (figures.recall, figures.rank, figures.first) == (0.5, 0.25, 0.0)


def test_a_set_is_read_from_its_folder_and_the_carried_one_is_there(tmp_path: Path) -> None:
    docs = [{"id": "a", "text": "The kiln is fired on Sundays."}]
    asked = [{"text": "kiln?", "gold": ["a"]}]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "1.json").write_text(json.dumps({"docs": docs, "questions": asked}))
    found = proving.sets(tmp_path)
    assert list(found) == ["carried", "mine"]
    assert finding.figures(found["mine"], finding.fts5).recall == 1.0
    (carried,) = found["carried"]
    ids = {doc.id for doc in carried.docs}
    assert all(question.gold <= ids for question in carried.questions)


def test_peers_get_the_first_questions_and_no_flood_of_texts() -> None:
    one = finding.sliced([TALK] * 3, 3)
    assert (len(one.docs), len(one.questions)) == (6, 3)
    many = Corpus(docs=TALK.docs * finding.TEXTS, questions=TALK.questions)
    assert finding.sliced([many, TALK], 99).docs == many.docs


def test_a_peer_is_asked_in_a_process_of_its_own_and_its_failure_has_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "DRIVERS", tmp_path)
    first = "import json, sys; asked = json.load(open(sys.argv[1]))\n"
    says = (
        "json.dump([[asked['docs'][0]['id']] for _ in asked['questions']], open(sys.argv[2], 'w'))"
    )
    (tmp_path / "good.py").write_text(first + says)
    (tmp_path / "bad.py").write_text("raise SystemExit('no model is here')")

    def peer(driver: str) -> peers.Installed:
        made = peers.Peer(package="x", driver=driver)
        return peers.Installed(peer=made, python=Path(sys.executable), version="1")

    assert peer("good.py").ask(TALK) == [["a"], ["a"]]
    with pytest.raises(peers.Missing, match=r"^no model is here$"):
        peer("bad.py").ask(TALK)


def test_every_peer_has_a_program_that_asks_it() -> None:
    named = {peer.driver for peer in peers.PEERS.values()}
    there = {path.name for path in peers.DRIVERS.glob("ask_*.py")}
    assert named == there


def test_what_is_kept_of_labelled_lines_is_counted(tmp_path: Path) -> None:
    lines = ["# Memory", "", "- The kiln is fired on the first Sunday of May.", "- _(nothing yet)_"]
    (tmp_path / "workspaces" / "w").mkdir(parents=True)
    (tmp_path / "workspaces" / "w" / "MEMORY.md").write_text("\n".join([*lines, ""]))
    units = [{"id": f"{n}", "file": "MEMORY.md", "lines": [n, n]} for n in (3, 4)]
    labels = [{"id": "3", "keep": "durable", "type": "fact"}, {"id": "4", "keep": "noise"}]
    for name, rows in (("units", units), ("labels", labels)):
        (tmp_path / name).mkdir()
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / name / "w.jsonl").write_text(text)
    (count,) = nights.distilled(*(tmp_path / n for n in ("workspaces", "units", "labels"))).values()
    assert nights.kept_figures(count) == {
        **dict.fromkeys(("precision", "recall", "f1", "type"), 1.0),
        "noise": 0.0,
    }


def test_a_line_of_a_day_that_is_kept_counts_half() -> None:
    count = Counter({"durable": 4, "kept durable": 2, "dated": 4, "kept dated": 4, "typed": 1})
    found = nights.kept_figures(count)
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)
    assert (found["noise"], found["type"]) == (0.0, 0.5)


@long
def test_cases_of_two_nights_are_played(tmp_path: Path) -> None:
    rows = nights.CHANGES.read_text(encoding="utf-8").splitlines()
    kinds = {json.loads(row)["expect"]: row for row in rows}
    (tmp_path / "cases").write_text("\n".join(kinds.values()) + "\n", encoding="utf-8")
    count = nights.changed(tmp_path / "cases")
    assert (count["replace"], count["both"], count["keep"]) == (1, 1, 1)
    assert (count["new first"], count["lost"]) == (1, 0)
    assert count["old out"] + count["old marked"] == 1


@long
def test_a_claim_that_stands_stays_and_a_rejected_one_stays_away() -> None:
    count = nights.forgotten(days=60)
    assert count["standing"] > 3 * count["rejected"] > 0
    assert (count["left recall"], count["came back"]) == (0, 0)


@long
def test_tokens_of_a_night_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    (night,) = modelled.nights(1)
    assert night.calls >= 2
    assert 2_000 < night.estimate < night.tokens < 60_000


@long
def test_a_killed_run_is_whole_or_not_there_and_no_writer_is_lost() -> None:
    dead, race = breaking.killed(8), breaking.raced(writers=3, each=2)
    for name in ("between", "broken objects", "next run refused", "next run not whole"):
        assert dead[name] == 0, name
    assert dead["old state"] + dead["new state"] == 8
    assert race["told done"] + race["told to try again"] == race["writes"] == 6
    assert race["lost"] == race["unsaid"] == race["broken objects"] == race["left dirty"] == 0


def test_the_page_shows_every_table_that_is_kept_and_says_how_each_was_made() -> None:
    kept = tables.kept()
    assert {f"proof {name}" for name in [*kept, "ratios", "scale"]} == {
        name for name, _ in PART.findall(PAGE)
    }
    for name, table in kept.items():
        assert all(len(row) == len(table.head) for row in table.rows), name
        assert table.command.startswith("python -m benchmarks")
        assert table.noise


def test_a_table_is_kept_beside_the_others_and_rendered(tmp_path: Path) -> None:
    rows = (("a|b", 1234, 0.5, None), ("c", 2, 45.678, 1.0))
    table = tables.Table(head=("x", "n", "y", "z"), rows=rows, command="do it", noise="much")
    tables.keep({"one": table}, tmp_path / "kept.json")
    tables.keep({"two": table}, tmp_path / "kept.json")
    found = tables.kept(tmp_path / "kept.json")
    assert found == {"one": table, "two": table}
    text = tables.rendered(found["one"])
    assert "| a\\|b | 1,234 | 0.500 | not measured |\n| c | 2 | 45.7 | 1.000 |\n" in text
    assert text.endswith("\n\n`do it`. Noise: much.\n")
    assert tables.scaled(tmp_path / "none.json") is None


def test_the_picture_is_the_table_of_peers() -> None:
    drawn = picture.bars(tables.kept())
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.svg(drawn), "make docs"
    count = sum(len(rows) for rows in drawn.values())
    titles = [e.text or "" for e in ET.fromstring(picture.svg(drawn)).iter() if "}title" in e.tag]
    assert len(titles) == count + 1
