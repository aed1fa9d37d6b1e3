"""What the sources hold and no memory rests on is found by search, after the claims."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, NEXT_DAY, begin, configure, done, git, memories, memrepo

from memrepo.actions.recall import recall
from memrepo.actions.work import Call
from memrepo.faces.mcp import TOOLS, answer
from memrepo.store.blocks import Embedder

TIME = datetime(2026, 3, 1, 11, tzinfo=UTC)
CLUB = """\
# Memory

## Club

- The boat shed is locked with a brass padlock.
- The launch ramp is closed on Mondays.
"""
TOWNS = ("Bergen", "Oslo", "Turku", "Gent")
VISITS = [
    f"Visited the {colour} workshop in {town} and looked at the {kind} lathe."
    for colour in ("red", "blue", "green", "yellow")
    for town in TOWNS
    for kind in ("steel", "wooden", "brass")
]
LOG = "# Workshops\n\n## Visits\n\n" + "".join(f"- {visit}\n" for visit in VISITS)
RED_TURKU = "Visited the red workshop in Turku and looked at the wooden lathe."
QUESTION = ("red", "workshop", "Turku", "wooden", "lathe")


def place(repo: Path, name: str, text: str) -> None:
    path = repo.parent / "workspace" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of two memories and a source of which nothing is promoted yet."""
    repo = tmp_path / "repo"
    place(repo, "MEMORY.md", CLUB)
    done(tmp_path, "init", repo, "--from", "workspace")
    done(repo, "run")
    place(repo, "memory/workshops.md", LOG)
    done(repo, "ingest")
    return repo


def found(repo: Path, *argv: str, now: str = LATER) -> list[dict[str, Any]]:
    passages: list[dict[str, Any]] = done(repo, "search", *argv, now=now)["passages"]
    return passages


def texts(repo: Path, *argv: str, now: str = LATER) -> list[str]:
    answer_ = memrepo(repo, "search", *argv, now=now)
    return [one["text"] for one in answer_.data["passages"]]


def indexed(repo: Path) -> bytes:
    """Return all that the index says of passages."""
    with sqlite3.connect(repo / ".git" / "memrepo" / "index.sqlite3") as base:
        rows = base.execute("SELECT terms, text FROM block WHERE id = ''").fetchall()
        return repr(rows).encode()


def test_what_was_not_promoted_is_found_with_its_paragraph_and_headings(repo: Path) -> None:
    answer_ = done(repo, "search", *QUESTION)
    assert (answer_["hits"], answer_["why"]) == ([], "")
    best = answer_["passages"][0]
    lines = LOG.split("\n")
    first, last = best["lines"]
    assert best["text"] == "\n".join(lines[first - 1 : last])
    assert RED_TURKU in best["text"]
    assert len(best["text"]) <= 600
    resource = "sources/memory/workshops.md"
    assert best["blob"] == git(repo, "rev-parse", f"HEAD:{resource}").strip()
    assert (best["context"], best["resource"]) == ("workshops › Visits", resource)
    said = memrepo(repo, "search", *QUESTION, as_json=False)
    assert said.exit == 0
    assert said.out.startswith("in the sources, not promoted:\n  workshops › Visits\n")
    assert f"  from {resource}:{first}-{last}\n" in said.out
    assert "nothing found" not in said.out


def test_a_hit_shows_what_is_next_to_it_in_its_source(repo: Path) -> None:
    (hit,) = done(repo, "search", "padlock", "brass")["hits"]
    assert hit["nearby"] == "- The launch ramp is closed on Mondays."
    said = memrepo(repo, "search", "padlock", "brass", as_json=False).out
    assert "  next to it: - The launch ramp is closed on Mondays.\n" in said
    (ramp,) = [i for i, m in memories(repo).items() if "ramp" in m.body]
    done(repo, "forget", ramp, "--reason", "no longer", now=LATER)
    assert done(repo, "search", "padlock", "brass", now=LATER)["hits"][0]["nearby"] == ""


def test_other_phrasings_are_ranked_in_the_same_query(repo: Path) -> None:
    assert memrepo(repo, "search", "boathouse key").exit == 1
    answer_ = done(repo, "search", "boathouse key", "--also", "shed padlock")
    assert answer_["hits"][0]["text"] == "The boat shed is locked with a brass padlock."


def test_several_phrasings_need_more_than_a_chance_word_in_common(repo: Path) -> None:
    also = ("--also", "boat insurance company", "--also", "premium of the yacht policy")
    answer_ = memrepo(repo, "search", "who insures us", *also, "--also", "insurer name")
    assert answer_.exit == 1
    assert answer_.data["why"]


@pytest.mark.parametrize("also", [("launch ramp",), ("pink llama", "launch ramp", "green moon")])
def test_a_text_with_all_words_of_one_phrasing_answers(repo: Path, also: tuple[str, ...]) -> None:
    phrasings = [word for text in also for word in ("--also", text)]
    answer_ = done(repo, "search", "quark zebra", *phrasings)
    assert "The launch ramp" in answer_["hits"][0]["text"]
    assert not answer_["why"]


def test_a_text_with_one_of_many_words_of_a_question_is_no_answer(repo: Path) -> None:
    answer_ = memrepo(repo, "search", "which dentist of the town keeps a boat in winter")
    assert answer_.exit == 1
    assert answer_.data["hits"][0]["answer_confidence"] == "low"
    assert any("nearest headings: MEMORY › Club" in one for one in answer_.data["suggestions"])


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("Die Kosten der Halle sind bei uns nicht hoch.", "Kosten"),
        ("Las llaves de la casa están con el vecino.", "llaves"),
        ("Les clés de la maison sont chez le voisin.", "clés"),
    ],
)
def test_a_word_is_stemmed_by_all_languages_of_the_repository(
    repo: Path, line: str, asked: str
) -> None:
    place(repo, "memory/words.md", f"# Words\n\n- {line}\n")
    done(repo, "ingest", now=LATER)
    assert f"- {line}" in texts(repo, asked)


@pytest.mark.parametrize(
    ("question", "exit_"),
    [
        ("cuánto cuesta el alquiler", 0),
        ("小李的生日", 0),
        ("服务器为什么重启", 0),
        ("which hotel in Lisbon", 0),
        ("Which toner does the printer need?", 0),
        ("Which driver does the scanner use?", 0),
        ("What is Bea's phone?", 0),
        ("what is the phone of Bea", 0),
        ("which garage repaired the boat trailer of the printer", 1),
        ("when does the boiler hum", 0),
    ],
)
def test_only_a_statement_with_half_of_the_rarest_words_answers(
    repo: Path, question: str, exit_: int
) -> None:
    """What stands next to it, in the same list or log, is about another thing."""
    place(
        repo,
        "oficina.md",
        "# Panadería\n\n- El horno grande cuesta 4.500 euros.\n- La harina es de Osuna.\n"
        "- El alquiler cuesta 900 euros al mes.\n- Falta revisar los sacos de harina.\n",
    )
    place(
        repo,
        "memory/2026-03-01.md",
        "# 日志\n\n- 今天和老王讨论了合同，他下周签字。\n- 小李的生日是三月五日。\n"
        "- 服务器昨晚重启了两次，原因是内存不足。\n- 老王的电话换了。\n- 生日聚会在外滩。\n",
    )
    place(
        repo,
        "devices.md",
        "# Devices\n\n- Printer: HP LaserJet\n  - toner: CF259A\n\nScanner in the study:\n"
        "- driver: brother4\n\n## Lisbon trip\n\n- hotel: Casa Azul\n\n## Kitchen\n\n"
        "- Bea Amsel: +49 30 1234567.\n- The phone of the office is broken.\n- The boiler hums.\n",
    )
    done(repo, "ingest", now=LATER)
    answer_ = memrepo(repo, "search", question)
    assert answer_.exit == exit_
    assert not exit_ or "Chinese" in "".join(answer_.data["suggestions"])


def test_a_later_statement_about_the_same_is_shown_below_a_hit(repo: Path) -> None:
    old = "# Host\n\n- 2026-01-05: The staging host Kestrel runs Debian 11.\n"
    place(repo, "memory/host.md", old)
    done(repo, "run", now=LATER)
    place(repo, "memory/z.md", old.replace("01-05", "02-09").replace("Debian 11", "Debian 12 now"))
    done(repo, "ingest", now=LATER)
    hits = done(repo, "search", "Kestrel", "staging", "Debian", "11", now=LATER)["hits"]
    assert hits[0]["later"]["captured"] == "2026-02-09"
    assert "Debian 12" in hits[0]["later"]["text"]


@pytest.mark.parametrize(
    "name",
    [
        "memory/host.sync-conflict-20260209-120000-ABCDEFG.md",
        "memory/host (Mara's conflicted copy 2026-02-09).md",
        "memory/host (Conflicted copy iphone 202602091200).md",
        "other/host.bak.md",
        "other/archive/host.md",
        "other/host-template.md",
    ],
)
def test_a_copy_an_archive_or_a_template_is_searched_only_if_its_kind_is_set(
    repo: Path, name: str
) -> None:
    place(repo, "memory/host.md", "# Host\n\n- The staging host Kestrel runs Debian 12.\n")
    done(repo, "run", now=LATER)
    place(repo, name, "# Host\n\n- The staging host Kestrel runs Debian 11 on a Pentium.\n")
    done(repo, "ingest", now=LATER)
    answer_ = done(repo, "search", "Kestrel", "staging", "host", "Pentium", "-k", "1", now=LATER)
    (hit,) = answer_["hits"]
    assert hit["text"] == "The staging host Kestrel runs Debian 12."
    assert hit["later"] is None
    assert answer_["passages"] == []
    configure(repo, "sources.kinds", [f"{name.replace('(', '[(]')} = page"])
    (part,) = found(repo, "Pentium")
    assert "Debian 11 on a Pentium" in part["text"]


def test_a_passage_never_repeats_a_claim(repo: Path) -> None:
    place(repo, "memory/ramp.md", "# Ramp\n\n- The launch ramp is closed on Mondays.\n")
    done(repo, "ingest", now=LATER)
    answer_ = done(repo, "search", "ramp", "closed", now=LATER)
    assert [hit["text"] for hit in answer_["hits"]] == ["The launch ramp is closed on Mondays."]
    assert answer_["passages"] == []
    place(repo, "memory/ramp.md", "# Ramp\n\n- The old ramp was closed by ice in January 1987.\n")
    done(repo, "ingest", now=LATER)
    said = memrepo(repo, "search", "ramp", "closed", now=LATER, as_json=False).out
    assert "closed on Mondays" in said
    assert "in the sources, not promoted:\n  ramp\n  - The old ramp was closed by ice" in said


@pytest.mark.parametrize(
    "limit",
    [
        ("--type", "fact"),
        ("--tag", "boats"),
        ("--status", "archived"),
        ("--scope", "user:ana"),
        ("--layered",),
    ],
)
def test_a_search_that_is_limited_to_some_memories_finds_no_passage(
    repo: Path, limit: tuple[str, ...]
) -> None:
    assert found(repo, *QUESTION)
    assert not found(repo, *QUESTION, *limit)


def test_nothing_of_the_sources_is_found_for_a_bound_scope(repo: Path) -> None:
    tool = TOOLS["memory_search"]
    arguments = {"query": " ".join(QUESTION)}
    free = answer(Call(where=repo, now=TIME), tool, arguments, "test")
    assert RED_TURKU in free.text
    assert "from sources/memory/workshops.md" in free.text
    assert "in the sources, not promoted:" in free.text
    bound = answer(Call(where=repo, now=TIME, scope="user:ana"), tool, arguments, "test")
    assert "in the sources" not in bound.text
    assert "Turku" not in bound.text


def test_a_line_that_left_its_source_is_no_passage_any_more(repo: Path) -> None:
    assert any(RED_TURKU in text for text in texts(repo, *QUESTION))
    place(repo, "memory/workshops.md", LOG.replace(f"- {RED_TURKU}\n", ""))
    done(repo, "ingest", now=LATER)
    assert not any(RED_TURKU in text for text in texts(repo, *QUESTION))
    assert b"red workshop in Turku and looked at the wooden" not in indexed(repo)
    (repo.parent / "workspace" / "memory" / "workshops.md").unlink()
    done(repo, "ingest", now=LATER)
    assert not found(repo, *QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        "# Keys\n\n- The boat shed is locked with a brass padlock.\n",
        "# Keys\n\nThe boat shed is locked with a **brass** padlock.\n",
        "# Keys\n\nThe boat shed, they say, is locked with a brass padlock.\n",
    ],
)
def test_what_a_person_rejected_is_never_a_passage(repo: Path, text: str) -> None:
    place(repo, "memory/keys.md", text)
    done(repo, "ingest", now=LATER)
    (id_,) = [i for i, m in memories(repo).items() if "padlock" in m.body]
    found(repo, "brass", "padlock")
    done(repo, "reject", id_, "--reason", "it never was", now=LATER)
    assert not any("padlock" in one for one in texts(repo, "brass", "padlock", now=NEXT_DAY))
    assert b"padlock" not in indexed(repo)


def test_of_a_longer_thought_the_rest_is_found_without_what_was_rejected(repo: Path) -> None:
    shed = "The boat shed is locked with a brass padlock. Its roof is of Welsh slate."
    place(repo, "memory/shed.md", f"# Shed\n\n{shed}\n")
    done(repo, "ingest", now=LATER)
    assert texts(repo, "Welsh", "slate", "roof") == [shed]
    (id_,) = [i for i, m in memories(repo).items() if "padlock" in m.body]
    done(repo, "reject", id_, "--reason", "it never was", now=LATER)
    assert texts(repo, "Welsh", "slate", "roof") == ["Its roof is of Welsh slate."]


@pytest.mark.parametrize(
    "copy",
    [
        "Removed these memories:\n\n- {}\n",
        "Removed: {}\n",
        "| what | why |\n| --- | --- |\n| {} | wrong |\n",
        "We met at noon. {} Then we left.\n",
        "> {}\n",
    ],
)
def test_no_copy_of_what_a_person_forgot_is_a_passage(repo: Path, copy: str) -> None:
    (ramp,) = [i for i, m in memories(repo).items() if "ramp" in m.body]
    done(repo, "forget", ramp, "--reason", "wrong", now=LATER)
    text = copy.format("The launch ramp is closed on Mondays.")
    place(
        repo,
        "memory/2026-03-02.md",
        f"# 2026-03-02\n\n## Cleanup\n\n{text}\nIt rained on Friday.\n",
    )
    place(repo, "memory/2026-03-01.md", "")
    done(repo, "run", now=NEXT_DAY)
    for words in ("launch ramp closed Mondays", "Friday rained cleanup"):
        answer_ = memrepo(repo, "search", words, now=NEXT_DAY)
        assert "Mondays" not in repr(answer_.data["passages"] + answer_.data["hits"])
    assert "It rained on Friday." in repr(answer_.data)


def test_a_newer_page_without_a_date_is_shown_as_later(repo: Path) -> None:
    """A page that came after the import was written by then; that of the import may be older."""
    place(repo, "MEMORY.md", f"{CLUB}\n## Letter\n\n- letter_day: Sunday\n- max_links: 6\n")
    done(repo, "run", now=LATER)
    place(repo, "memory/letter.md", "# Settings\n\nletter_day: Wednesday\nprefix: none\n")
    done(repo, "run", now=NEXT_DAY)
    hit = done(repo, "search", "on what day does the letter go out", now=NEXT_DAY)["hits"][0]
    assert "letter_day: Sunday" in hit["text"]
    assert hit["later"]["text"] == "letter_day: Wednesday"


def test_a_list_of_dated_lines_is_of_the_newest_and_a_passage_shows_what_came_after(
    repo: Path,
) -> None:
    oven = "# Oven\n\n- 2026-01-04: the oven is fired with gas\n- 2026-01-09: the oven gets a lid\n"
    oven += "- February 2026: the oven is swept\n"
    place(repo, "memory/oven.md", oven)
    done(repo, "ingest")
    (passage,) = found(repo, "what is the oven fired with")
    assert (passage["captured"], passage["later"]) == ("2026-01-09", None)
    place(repo, "memory/2026-02-20.md", "# 2026-02-20\n\nThe oven is fired with wood now.\n")
    done(repo, "ingest", now=NEXT_DAY)
    every = found(repo, "what is the oven fired with gas", now=NEXT_DAY)
    assert [one["later"] and one["later"]["captured"] for one in every] == ["2026-02-20", None]
    shown = memrepo(repo, "search", "oven", "fired", "gas", now=NEXT_DAY, as_json=False).out
    assert "later: 2026-02-20 The oven is fired with wood now." in shown
    place(repo, "memory/keys.md", "# 2026-02-11\n\nThe cellar key is in the blue folder.\n")
    place(
        repo,
        "memory/2026-02-20.md",
        "# 2026-02-20\n\nRuth asked for the cellar key, told her to come back tomorrow.\n",
    )
    done(repo, "ingest", now=NEXT_DAY)
    best = found(repo, "where is the cellar key", now=NEXT_DAY)[0]  # a newer one only mentions it
    assert best["text"] == "The cellar key is in the blue folder."


def test_of_hits_found_nearly_as_well_the_newer_comes_first(repo: Path) -> None:
    place(
        repo,
        "memory/0-ash.md",
        "# Ash\n\n- 2026-01-04: Ruth fires the kiln with gas, or with oil from the old red shed.\n",
    )
    place(repo, "memory/2026-02-11.md", "# 2026-02-11\n\nRuth now fires the kiln with wood.\n")
    done(repo, "ingest", now=NEXT_DAY)
    days = [one["captured"] for one in found(repo, "who fires the kiln", now=NEXT_DAY)]
    assert days == ["2026-02-11", "2026-01-04"]


def test_a_day_to_come_makes_no_text_later(repo: Path) -> None:
    """A date in a line is the day it names; what stands beside it was not written then."""
    place(repo, "memory/2026-02-20.md", "# 2026-02-20\n\n- The ferry pass lies in the tin box.\n")
    done(repo, "run", now=LATER)
    pass_ = "- The ferry pass now lies in the desk.\n- Renew the ferry pass before 2026-12-24.\n"
    place(repo, "memory/pass.md", f"# Ferry\n\n{pass_}")
    done(repo, "run", now=NEXT_DAY)
    found_ = done(repo, "search", "where does the ferry pass lie", now=NEXT_DAY)
    assert all((hit["later"] or {}).get("captured", "") < "2026-12" for hit in found_["hits"])


def test_the_old_line_of_a_memory_that_a_person_edited_is_no_passage(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    lines = "- The bread oven is heated to 230 degrees.\n- The pantry key hangs behind the door.\n"
    (folder / "MEMORY.md").write_text(f"# Memory\n\n## Kitchen\n\n{lines}", encoding="utf-8")
    repo = begin(tmp_path, folder)
    found = done(repo, "search", "bread oven degrees", "--no-touch")["hits"]
    done(repo, "edit", found[0]["id"], "--text", "The bread oven is heated to 250 degrees.")
    for words in ("bread oven 230 degrees", "pantry key door"):
        shown = memrepo(repo, "search", words, "--no-touch", as_json=False).out
        assert "230" not in shown


def test_a_hit_has_the_lines_that_its_source_has_now(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    lines = "## Kitchen\n\n- The bread oven is heated to 230 degrees.\n"
    (folder / "MEMORY.md").write_text(lines, encoding="utf-8")
    repo = begin(tmp_path, folder)
    (folder / "MEMORY.md").write_text(f"# Memory\n\nFor all.\n\n{lines}", encoding="utf-8")
    done(repo, "run")
    (hit,) = done(repo, "search", "bread oven degrees", "--no-touch")["hits"]
    assert hit["sources"] == [{**hit["sources"][0], "lines": [7, 7]}]


DAY = """\
# 2026-03-01

- We decided to bill the regatta per month from April on.
- The slipway crane runs on 400 volts.
- Cleaned up the inbox, 14 letters answered.
"""


def test_a_note_gives_way_to_the_memory_of_its_line_unless_it_answers_more(repo: Path) -> None:
    place(repo, "memory/2026-03-01.md", DAY)
    done(repo, "run")
    assert {m.type for m in memories(repo).values() if "2026-03" in m.path} >= {"decision", "note"}

    def types(*words: str) -> list[str]:
        hits = done(repo, "search", *words, now=LATER)["hits"]
        return [hit["type"] for hit in hits if "regatta" in hit["text"]]

    assert types("bill", "regatta", "per", "month") == ["decision"]
    assert "note" in types("slipway", "crane", "volts", "regatta")
    assert types("--type", "note", "bill", "regatta") == ["note"]


def test_a_passage_near_in_meaning_is_listed_without_a_word_of_the_question(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np = pytest.importorskip("numpy", reason="numpy comes with memrepo[dense]")

    def vectors(texts: list[str]) -> Any:
        return np.array([[1.0, 0.2 * ("Turku" in t or "?" in t)] for t in texts], np.float32)

    small = Embedder(name="small", dims=2, vectors=vectors)
    asked = "which Finnish harbour?"
    monkeypatch.setattr(recall, "_model", lambda: None)
    assert found(repo, asked) == []
    monkeypatch.setattr(recall, "_model", lambda: small)
    assert "Turku" in found(repo, asked)[0]["text"]
