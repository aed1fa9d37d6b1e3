"""The shelf pass: one question arranges the memories and chooses the first page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from driving import assert_sound, done, memories, memrepo
from serving import Act, Service, checked, good, shown
from workspaces import write

from memrepo.actions.run import decide, settle, shelf
from memrepo.core.memory import Memory, Source
from memrepo.judge.documents import pairs_alike, tokens_of
from memrepo.judge.interface import Change, Question
from memrepo.judge.questions import memory_row, shelf_question

FIRST, SECOND, THIRD = (f"2026-03-0{n}T09:00:00Z" for n in (1, 2, 3))
LINES = (
    "The ferry to Holm leaves at seven on weekdays.",
    "Never anchor north of the Holm light, the cable lies there.",
    "Ana is the harbour master of Brevik.",
    "The fuel dock in Brevik takes cash only.",
    "The fuel dock of Brevik accepts no cards, only cash.",
    "Berth 12 was rented until the end of the season 2024.",
    "Berth 14 is rented since the spring of 2025.",
)
HOLM, CABLE, ANA, CASH, CARDS, OLD, NEW = LINES


def begin(base: Path) -> Path:
    """Make a repository whose workspace has all lines in one page."""
    data = "# Harbour\n\n" + "".join(f"- {line}\n" for line in LINES)
    done(base, "init", base / "repo", "--from", write(base / "ws", {"harbour.md": data.encode()}))
    return base / "repo"


def ids_of(question: str) -> dict[str, str]:
    """Return the short ids of the memories that a question shows, by text."""
    rows = (row.removeprefix("+ ").split(" |") for row in shown(question).splitlines())
    return {row[-1].strip(): row[0] for row in rows if len(row) == 5}


def arranging(
    change: Callable[[dict[str, str]], dict[str, Any]], stated: bool = True
) -> Callable[[str], str]:
    """Return a model that arranges the shelf so, and confirms changes or denies them."""

    def answer(question: str) -> str:
        if '{"items"' in shown(question):
            return checked(question, lambda row: stated or "replaces" not in row)
        if "=== F" in shown(question):
            return good(question)
        return json.dumps({"changes": [], "page": [], **change(ids_of(question))})

    return answer


def run(repo: Path, now: str = FIRST, *more: str) -> Any:
    return memrepo(repo, "run", "--judge", "anthropic", *more, now=now)


def test_no_model_sees_the_files_of_another_agent(tmp_path: Path, service: Service) -> None:
    files = {
        "USER.md": b"# User\n\n- Ana keeps the harbour.\n",
        "IDENTITY.md": b"# Identity\n\n- **Name:**\n  Otter\n",
        "agents/bo/IDENTITY.md": b"# Identity\n\n- **Name:** Bo\n",
        "agents/bo/MEMORY.md": b"# Memory\n\n- Bo polishes the bell on Mondays.\n",
    }
    done(tmp_path, "init", tmp_path / "repo", "--from", write(tmp_path / "ws", files))
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return arranging(lambda _: {})(question)

    service.default = Act(answer=answer)
    assert run(tmp_path / "repo").data["landed"]
    assert "keeps the harbour" in asked[0]
    assert "\nnames: agent Otter, another agent Bo\n" in asked[0]
    assert not any("polishes the bell" in question for question in asked)
    assert done(tmp_path / "repo", "status", now=SECOND)["unread"] == []


def test_a_new_page_shows_the_day_on_which_it_was_written_if_that_is_known(
    service: Service, tmp_path: Path
) -> None:
    files = {
        "AGENTS.md": b"# Agents\n\n- Write to Ana in the mornings only.\n",
        "USER.md": b"# User\n\n- Ana keeps the harbour.\n",
        "MEMORY.md": b"# Memory\n\n- The fuel dock takes cash only.\n",
        "memory/2026-02-20.md": b"# Day\n\n- The fuel dock takes cards now.\n",
    }
    where = write(tmp_path / "ws", files)
    for name, day in {
        "USER.md": "2026-01-10",
        "MEMORY.md": "2026-02-25",
        "AGENTS.md": "2026-03-02",
    }.items():
        at = datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()
        os.utime(where / name, (at, at))
    done(tmp_path, "init", tmp_path / "repo", "--from", where)
    assert run(tmp_path / "repo").data["landed"]
    heads = [row for row in shown(service.questions()[0]).splitlines() if "=== F" in row]
    assert heads == [
        "=== F1 USER.md (profile, changed 2026-01-10)",
        "=== F2 MEMORY.md (profile, changed 2026-02-25)",
        "=== F3 AGENTS.md (profile)",
        "=== F4 memory/2026-02-20.md (log)",
    ]


@pytest.mark.parametrize(
    ("title", "day"),
    [("Memory", "changed 2026-02-25"), ("Memory 2026-02-20", "2026-02-20")],
)
def test_the_time_of_a_file_keeps_no_later_log_from_ending_what_it_states(
    service: Service, tmp_path: Path, title: str, day: str
) -> None:
    cash, cards = "The fuel dock takes cash only.", "The fuel dock takes cards only."
    where = write(tmp_path / "ws", {"MEMORY.md": f"# {title}\n\n- {cash}\n".encode()})
    at = datetime.fromisoformat("2026-02-25T12:00:00+00:00").timestamp()
    os.utime(where / "MEMORY.md", (at, at))
    done(tmp_path, "init", tmp_path / "repo", "--from", where)
    rows: list[str] = []

    def answer(question: str) -> str:
        if "=== F" not in shown(question) or '{"items"' in shown(question):
            return good(question)
        op = {"op": "add", "lines": "F1:3", "text": cash, "type": "fact", "as_of": "2026-02-25"}
        rows.extend(row for row in shown(question).splitlines() if row.startswith("m1 | "))
        if rows:
            op |= {"op": "replace", "id": "m1", "text": cards, "as_of": "2026-02-24"}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(tmp_path / "repo").exit == 0
    write(where, {"memory/2026-02-24.md": f"# Day\n\n- {cards}\n".encode()})
    assert run(tmp_path / "repo", SECOND).exit == 0
    assert rows == [f"m1 | fact |  | {day} | {cash}"]
    assert active(tmp_path / "repo") == {cards: "fact"}


@pytest.mark.parametrize(
    ("page", "day", "basis"),
    [
        ("# Dock\n\n- The dock, rebuilt on 2026-01-10, takes cash.", "2026-02-25", "commit"),
        ("# Dock\n\n- 2026-01-10: the rebuilt dock takes cash.", "2026-01-10", "unit"),
        ("# Dock\n## 2026-01-10\n- The rebuilt dock takes cash.", "2026-01-10", "heading"),
        (
            "---\nname: dock of March 2024\ndescription: dock\n---\n\nThe rebuilt dock takes cash.",
            "2026-02-25",
            "commit",
        ),
    ],
)
def test_the_day_that_a_judge_gives_stays_unless_a_heading_or_the_line_begins_with_another(
    service: Service, tmp_path: Path, page: str, day: str, basis: str
) -> None:
    where = write(tmp_path / "ws", {"dock.md": f"{page}\n".encode()})
    at = datetime.fromisoformat("2026-02-25T12:00:00+00:00").timestamp()
    os.utime(where / "dock.md", (at, at))
    done(tmp_path, "init", tmp_path / "repo", "--from", where)
    lines = f"F1:{len(page.splitlines())}"

    def answer(question: str) -> str:
        if "=== F" not in shown(question) or '{"items"' in shown(question):
            return good(question)
        text = "The rebuilt dock takes cash."
        op = {"op": "add", "lines": lines, "text": text, "type": "fact", "as_of": "2026-02-25"}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(tmp_path / "repo").exit == 0
    (memory,) = (m for m in memories(tmp_path / "repo").values() if not m.is_note)
    assert [(s.captured[:10], s.captured_from) for s in memory.sources] == [(day, basis)]


def test_a_day_that_a_line_plans_for_is_not_the_day_on_which_it_was_stated(
    service: Service, tmp_path: Path
) -> None:
    plan = "The fuel dock opens on 2027-01-10."
    where = write(tmp_path / "ws", {"MEMORY.md": f"# Memory\n\n- {plan}\n".encode()})
    at = datetime.fromisoformat("2026-02-25T12:00:00+00:00").timestamp()
    os.utime(where / "MEMORY.md", (at, at))
    done(tmp_path, "init", tmp_path / "repo", "--from", where)

    def answer(question: str) -> str:
        if "=== F" not in shown(question) or '{"items"' in shown(question):
            return good(question)
        op = {"op": "add", "lines": "F1:3", "text": plan, "type": "fact", "as_of": "2027-01-10"}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(tmp_path / "repo").exit == 0
    (memory,) = (m for m in memories(tmp_path / "repo").values() if not m.is_note)
    assert memory.captured[:10] == "2026-02-25"


def page_of(repo: Path) -> list[str]:
    """Return the lines of the first page, without what frames them."""
    rows = (repo / "MEMORY.md").read_text().splitlines()
    return [next(x for x in LINES if x in r) for r in rows if any(x in r for x in LINES)]


def active(repo: Path) -> dict[str, str]:
    """Return the types of active memories by text."""
    found = (m for m in memories(repo).values() if not m.is_note and m.status == "active")
    return {m.body.strip(): m.type for m in found}


def test_the_page_is_what_the_model_chose_until_it_chooses_again(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    service.default = Act(
        answer=arranging(lambda ids: {"page": [ids[CASH], ids[HOLM], "m99", ids[CASH], ids[ANA]]})
    )
    assert run(repo).exit == 0
    assert page_of(repo) == [CASH, HOLM, ANA]
    stored = done(repo, "add", "The spare key hangs behind the tide table.")["id"]
    done(repo, "pin", next(i for i, m in memories(repo).items() if m.body.strip() == CABLE))
    done(repo, "promote", next(i for i, m in memories(repo).items() if m.body.strip() == CABLE))
    asked = len(service.asked)
    assert run(repo, SECOND).exit == 0
    assert len(service.asked) == asked  # nothing is new
    page = (repo / "MEMORY.md").read_text()
    assert page.index(stored) < page.index(CASH)  # what was stored by hand comes first
    assert [line for line in page_of(repo) if line != CABLE] == [CASH, HOLM, ANA]
    said = memrepo(repo, "session", "start", now=SECOND, as_json=False).out
    assert said.index(CASH) < said.index(HOLM) < said.index(ANA)
    page = repo.parent / "ws/harbour.md"
    later, rule = HOLM.replace("seven", "eight"), "Nobody smokes on the fuel dock."
    page.write_text(page.read_text().replace(HOLM, later) + f"- {rule}\n")

    def worded(question: str) -> str:
        given = json.loads(good(question))
        for op in given.get("operations", ()):
            op["type"] = "constraint" if op["text"] == rule else "fact"
        return json.dumps(given)

    service.default = Act(answer=worded)
    assert run(repo, THIRD).exit == 0
    page = (repo / "MEMORY.md").read_text()
    assert HOLM not in page
    assert page.index(CASH) < page.index(later) < page.index(ANA)  # in the place of the old one
    assert rule in page  # a rule need not wait for the next choice
    assert_sound(repo)


def test_an_open_question_is_on_the_page_that_a_model_chose(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begin(tmp_path)
    monkeypatch.setattr(shelf, "MAX_OPEN", 1)  # the newest of them

    def arranged(question: str) -> str:
        given = json.loads(
            arranging(lambda ids: {"page": [ids[OLD], ids[CASH], ids[HOLM]]})(question)
        )
        for op in given.get("operations", ()):
            op["type"] = "open_question" if op["text"] in (HOLM, OLD) else op["type"]
            op["as_of"] = "2025-01-01" if op["text"] == OLD else ""
        return json.dumps(given)

    service.default = Act(answer=arranged)
    assert run(repo).exit == 0
    assert page_of(repo) == [CASH, HOLM]
    assert "## Open questions" in (repo / "MEMORY.md").read_text()
    assert_sound(repo)


@pytest.mark.parametrize("stated", [True, False])
def test_a_replacement_is_confirmed_by_a_second_question(
    service: Service, tmp_path: Path, stated: bool
) -> None:
    repo = begin(tmp_path)
    change = arranging(
        lambda ids: {"changes": [{"change": "overtake", "ids": [ids[OLD], ids[NEW]]}]}, stated
    )
    service.default = Act(answer=change)
    assert run(repo).exit == 0
    assert (OLD in active(repo)) is not stated
    assert NEW in active(repo)
    if stated:
        by_text = {m.body.strip(): m for m in memories(repo).values()}
        assert by_text[OLD].superseded_by == (by_text[NEW].id,)
    assert_sound(repo)


def test_memories_are_joined_dropped_and_retyped(service: Service, tmp_path: Path) -> None:
    repo = begin(tmp_path)
    text = "The fuel dock of Brevik takes only cash, no cards."

    def change(ids: dict[str, str]) -> dict[str, Any]:
        rows = [
            {"change": "join", "ids": [ids[CASH], ids[CARDS]], "text": text, "type": "constraint"}
            | {"subject": "Brevik"},
            {"change": "join", "ids": [ids[ANA], ids[HOLM]], "text": "Ana leaves at 9."},
            {"change": "drop", "ids": [ids[OLD], ids[NEW]]},
            {"change": "retype", "ids": [ids[CABLE]], "type": "constraint"},
        ]
        return {"changes": rows, "page": [ids[CARDS], ids[CABLE], ids[OLD]]}

    service.default = Act(answer=arranging(change))
    assert run(repo).data["counts"]["archived"] == 2
    found = active(repo)
    assert found == {HOLM: "fact", CABLE: "constraint", ANA: "fact", text: "constraint"}
    joined = next(m for m in memories(repo).values() if m.body.strip() == text)
    assert len(joined.sources) == 2
    assert joined.subject == "Brevik"
    page = (repo / "MEMORY.md").read_text()
    assert page.index(text) < page.index(CABLE)  # the joined memory has the place of its members
    assert run(repo, SECOND).exit == 0
    assert active(repo) == found
    assert_sound(repo)


def test_a_joined_memory_overtakes_and_subjects_get_the_name_of_the_owner(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    (repo.parent / "ws/USER.md").write_bytes(b"# USER.md - Ana Holt\n\n- Ana Holt sails alone.\n")
    joined = "Berth 14 is rented since the spring of 2025; Berth 12 was until the season 2024."
    asked: list[str] = []

    def change(ids: dict[str, str]) -> dict[str, Any]:
        rows = [
            {"change": "overtake", "ids": [ids[HOLM], ids[OLD]]},
            {"change": "join", "ids": [ids[OLD], ids[NEW]], "text": joined},
            {"change": "join", "ids": [ids[NEW], ids[CASH]], "text": f"{NEW} {CASH}"},
            {"change": "rename", "ids": [ids[ANA]], "subject": "Ana Holt"},
            {"change": "rename", "ids": [ids[CABLE]], "subject": "Nobody"},
        ]
        return {"changes": rows, "page": [ids[NEW]]}

    model = arranging(change)

    def answer(question: str) -> str:
        asked.append(shown(question))
        given = json.loads(model(question))
        for op in given.get("operations", ()):
            op |= {"until": "2026-09-30"} if op["text"] == CASH else {}
        return json.dumps(given)

    service.default = Act(answer=answer)
    assert run(repo).exit == 0
    found = {m.body.strip(): m for m in memories(repo).values() if m.status == "active"}
    assert found.keys() >= {joined, CASH, ANA, CABLE}
    assert found.keys().isdisjoint({HOLM, OLD, NEW})
    assert (found[ANA].subject, found[CABLE].subject) == ("Ana Holt", "")
    assert len(found[joined].supersedes) == 2
    assert f"until 2026-09-30 | {CASH}" in "\n".join(asked)
    assert_sound(repo)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        (["drop CARDS", "overtake CASH CARDS"], {"CASH", "OLD"}),
        (["overtake CASH CARDS", "drop CARDS"], {"CARDS", "OLD"}),
        (["overtake CASH CARDS", "overtake CARDS CASH"], {"CARDS", "OLD"}),
        (["overtake CASH CARDS", "overtake CARDS OLD", "overtake OLD CASH"], {"OLD"}),
        (["overtake CARDS OLD", "overtake CASH CARDS", "drop CASH CARDS OLD"], {"OLD"}),
        (["overtake CASH CARDS", "drop OLD", "overtake CARDS OLD"], {"CARDS"}),
    ],
)
def test_no_answer_ends_both_a_memory_and_the_one_in_its_place(
    service: Service, tmp_path: Path, changes: list[str], left: set[str]
) -> None:
    repo, texts = begin(tmp_path), {"CASH": CASH, "CARDS": CARDS, "OLD": OLD}

    def change(ids: dict[str, str]) -> dict[str, Any]:
        rows = [
            (kind, [ids[texts[one]] for one in named]) for kind, *named in map(str.split, changes)
        ]
        page = {"page": [ids[CASH], ids[HOLM]]}
        return {"changes": [{"change": kind, "ids": named} for kind, named in rows], **page}

    service.default = Act(answer=arranging(change))
    reasons = {one["reason"] for one in run(repo).data["quarantined"]}
    assert reasons <= {"it joined or overtook another"}
    assert active(repo).keys() & {*texts.values()} == {texts[name] for name in left}
    found = memories(repo)
    ended = [m for m in found.values() if m.status == "superseded"]
    assert all(m.id not in m.superseded_by for m in ended)
    (first,) = (m for m in found.values() if m.body.strip() == CASH)
    while first.status == "superseded":
        first = found[first.superseded_by[-1]]
    assert first.status == "active"
    assert page_of(repo) == [first.body.strip(), HOLM]  # the line of the newest in its place
    assert_sound(repo)


@pytest.mark.parametrize(
    ("bodies", "text", "lost"),
    [
        (["It runs on port 80.", "It runs on port 8080."], "It runs on port 8080.", "80"),
        (["It costs 5 euros.", "It costs 25 euros."], "It costs 25 euros.", "5"),
        (["Version 1.2 is old.", "Version 1.25 is new."], "Version 1.25 is new.", "1.2"),
        (["The dock opens at 9.", "It closes at 17:30."], "The dock is open 9:00 to 17:30.", ""),
        (["Opened in 2024.", "Opened on 2024-05-12."], "Opened on 2024-05-12.", ""),
        (["Open since 2024-05-03.", "It opened on May 3."], "Open since 2024-05-03.", ""),
        (["Open since 2024-05-03.", "It opened on May 3."], "Open since May 3, 2024.", ""),
        (["Open since 2024-05-03.", "It opened on May 4."], "Open since 2024-05-03.", "05-04"),
        (["Open since 2024-05-03."], "Open since May 2024.", "2024-05-03"),
        (["Open since 2024-05-03."], "Open since May 3.", "2024-05-03"),
        (["The key is in `box-7`.", "Box 7 is red."], "The key is in the red box 7.", "box-7"),
        (["The key is in `box-7`.", "It is red."], "The key is in `red/box-7`.", ""),
        (["Charts: /srv/boats/charts-north."], "In /srv/boats/ is charts-north/.", ""),
        (
            ["Charts: /srv/boats/charts-north."],
            "In /srv/boats/ is charts-north-2/.",
            "/srv/boats/charts-north",
        ),
    ],
)
def test_a_join_keeps_each_figure_and_identifier(bodies: list[str], text: str, lost: str) -> None:
    found = [*shelf._lost(text, [Memory.of("", {}, body=body) for body in bodies])]
    assert found == [f"text: it loses {lost}: keep all, or join nothing"] * bool(lost)


def test_a_pass_without_an_answer_is_made_by_the_next_run(service: Service, tmp_path: Path) -> None:
    repo = begin(tmp_path)
    change = arranging(lambda ids: {"page": [ids[ANA]], "changes": []})
    service.default = Act(answer=change)
    service.script = [Act(answer=good), Act(status=500)]
    first = run(repo)
    assert first.exit == 4
    assert len(active(repo)) == len(LINES)
    assert run(repo, SECOND).exit == 0
    assert page_of(repo) == [ANA]
    asked = len(service.asked)
    assert run(repo, THIRD).exit == 0
    assert len(service.asked) == asked
    assert_sound(repo)


def test_a_later_pass_sees_what_is_new_similar_or_on_the_page(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    service.default = Act(answer=arranging(lambda ids: {"page": [ids[ANA]]}))
    assert run(repo).exit == 0
    names = "Alder Birch Cedar Dogwood Elm Fir Gum Hazel Ivy Juniper".split()
    new = [f"The boat {name} is moored at the west quay." for name in names]
    new[0] = "The fuel dock in Brevik takes cash only, and closes at noon."
    log = tmp_path / "ws" / "memory" / "2026-03-02.md"
    log.parent.mkdir()
    log.write_text("# Log\n\n" + "".join(f"- {line}\n" for line in new[:9]))
    assert run(repo, SECOND).exit == 0
    asked = [q for q in service.questions() if ids_of(q) and "=== F" not in shown(q)]
    assert len(asked) == 1  # nine are too few
    log.write_text("# Log\n\n" + "".join(f"- {line}\n" for line in new))
    service.default = Act(answer=arranging(lambda ids: {"page": [ids[new[0]], ids[ANA]]}))
    assert run(repo, THIRD).exit == 0
    asked = [q for q in service.questions() if ids_of(q) and "=== F" not in shown(q)]
    texts = set(ids_of(asked[-1]))
    assert texts >= {ANA, CASH, *new}
    assert HOLM not in texts


def memory_of(number: int, body: str, kind: str = "fact", day: str = "2026-03-01") -> Memory:
    """Return a memory that a log of a day states."""
    source = Source(resource="sources/a.md", captured=day, captured_from="file")
    fields = {"id": f"mem-{number:016}", "type": kind, "subject": "Quay", "sources": (source,)}
    return Memory.of(f"memories/{number}.md", fields, body=body)


def test_the_second_question_about_a_join_has_the_days_of_its_members() -> None:
    shown = {f"m{n}": memory_of(n, f"Berth {n} is let.", day=f"2026-03-0{n}") for n in (1, 2)}
    text = "Berth 1 was let by 2026-03-01, berth 2 by 2026-03-02."
    found, refused = shelf._find_proposals(
        [Change(change="join", ids=("m1", "m2"), text=text)], shown
    )
    assert not refused
    assert found[0].cited.own == ("2026-03-01 | Berth 1 is let.", "2026-03-02 | Berth 2 is let.")


def test_a_long_shelf_is_several_questions_and_lists_what_is_often_wrong() -> None:
    bodies = [f"Berth {n} is let to the boat {name}." for n, name in enumerate("ABCDEF", start=1)]
    shown = {f"m{n}": memory_of(n, body) for n, body in enumerate(bodies, start=1)}
    shown["m7"] = memory_of(7, "The fuel dock in Brevik takes cash only.", day="2026-03-20")
    shown["m8"] = memory_of(8, "Since 2026-03-02 the dock in Brevik takes cash only.")
    shown["m9"] = memory_of(9, "Who mends the crane is open.", "open_question")
    parts = shelf.split_rows(shown, sum(tokens_of(memory_row(i, m)) + 1 for i, m in shown.items()))
    assert parts == [[*shown]]
    parts = shelf.split_rows(shown, 80)
    assert len(parts) > 1
    assert [id_ for part in parts for id_ in part] == [*shown]
    pairs = pairs_alike(shown)
    assert ("m7", "m8") in pairs
    assert len(pairs) <= 2
    asked = shelf_question(shown, frozenset(), (), "2026-03-21", alike=pairs, page=["m7"]).data
    lists = ("newest: 2026-03-20", "m7 m8", "open: m9\n", "dated: m8\n", "page so far: m7\n")
    assert all(line in asked for line in lists)


@pytest.mark.parametrize(
    ("text", "is_joined"), [("Berths 1 and 2 are let.", True), ("Berths 1 and 9 are let.", False)]
)
def test_a_later_question_shows_a_join_as_one_memory(text: str, is_joined: bool) -> None:
    shown = {f"m{n}": memory_of(n, f"Berth {n} is let.") for n in range(1, 9)}
    asked: list[str] = []

    class Script:
        def ask(self, question: Question) -> Any:
            asked.append(question.data)
            joins = (Change(change="join", ids=("m1", "m2"), text=text),) * (len(asked) == 1)
            return SimpleNamespace(items=joins, page=("m2", "m1", "m3"))

    shelf._ask(Script(), shown, frozenset(), (), "2026-03-21", 80)  # type: ignore[arg-type]
    assert len(asked) > 1
    assert (text in asked[1]) is is_joined
    assert ("Berth 2 is let." in asked[1]) is not is_joined
    page = "page so far: m1, m3" if is_joined else "page so far: m2, m1, m3"
    assert f"{page}\n" in asked[1]


def test_a_change_that_fails_is_left_out_and_named(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begin(tmp_path)

    def fail(*_: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(shelf, "_drop", fail)
    rows = [{"change": "drop"}, {"change": "retype", "type": "constraint"}]
    service.default = Act(
        answer=arranging(
            lambda ids: {
                "changes": [rows[0] | {"ids": [ids[OLD]]}, rows[1] | {"ids": [ids[CABLE]]}]
            }
        )
    )
    found = run(repo)
    assert found.exit == 0
    assert any("RuntimeError: no luck" in one["reason"] for one in found.data["quarantined"])
    assert active(repo)[CABLE] == "constraint"
    assert OLD in active(repo)


@pytest.mark.parametrize("scope", ["", "project:harbour"])
def test_what_a_person_stored_stays_and_the_answer_says_so(
    service: Service, tmp_path: Path, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begin(tmp_path)
    mine = "The fuel dock in Brevik takes no cards at all."
    if scope:  # what a bound program takes in
        own = write(tmp_path / "project", {"memory/dock.md": f"# Dock\n\n- {mine}\n".encode()})
        event = {"hook_event_name": "SessionEnd", "transcript_path": str(own / "s.jsonl")}
        monkeypatch.setattr("sys.stdin.read", lambda: json.dumps(event), raising=False)
        memrepo(repo, "agent", "hook", "claude-code", "--scope", scope, as_json=False)
    else:
        done(repo, "add", mine)
    (mem,) = memories(repo)

    def change(ids: dict[str, str]) -> dict[str, Any]:
        rows = [
            {"change": "join", "ids": [ids[CARDS], ids[mine]], "text": mine, "type": "fact"},
            {"change": "drop", "ids": [ids[mine]]},
        ]
        return {"changes": rows[: 1 if scope else 2]}

    service.default = Act(answer=arranging(change))
    found = run(repo)
    left = {one["id"]: one["reason"] for one in found.data["quarantined"]}
    why = "another scope" if scope else "stored or confirmed"
    names = ["join"] if scope else ["join", "drop"]
    assert sorted(left) == sorted(f"shelf: {name} {mem}" for name in names)
    assert all(why in reason for reason in left.values())
    assert {mine, CARDS} <= active(repo).keys()


@pytest.mark.parametrize("where", ["_memory", "_replace"])
def test_a_statement_that_fails_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    repo = begin(tmp_path)
    module = decide if where == "_memory" else settle
    usual = getattr(module, where)

    def fail(known: object, one: Any, *more: object) -> Any:
        if ANA in str(one):
            raise RuntimeError("no luck")
        return usual(known, one, *more)

    monkeypatch.setattr(module, where, fail)
    found = memrepo(repo, "run", now=FIRST)
    assert found.exit == 0
    assert any("RuntimeError: no luck" in one["reason"] for one in found.data["quarantined"])
    assert {HOLM, CABLE} <= set(active(repo))
    assert (ANA in active(repo)) == (where == "_replace")
    assert_sound(repo)


def test_a_join_that_is_too_long_is_left_out_and_named(service: Service, tmp_path: Path) -> None:
    repo, long = begin(tmp_path), f"{CASH} {'It takes no cards, only cash. ' * 12}"
    asked: list[str] = []

    def answer(question: str) -> str:
        if '{"items"' in shown(question):
            return checked(question)
        if "=== F" in shown(question):
            return good(question)
        asked.append(shown(question))
        ids = ids_of(question)
        change = {"change": "join", "ids": [ids[CASH], ids[CARDS]], "text": long}
        return json.dumps({"changes": [change], "page": []})

    service.default = Act(answer=answer)
    (lost,) = [one["reason"] for one in run(repo).data["quarantined"]]
    assert "characters, expected 10 to 300" in lost
    assert len(asked) == 1
    assert {CASH, CARDS} <= set(active(repo))


def test_a_refused_operation_is_shown_with_all_its_lines_and_their_numbers(
    service: Service, tmp_path: Path
) -> None:
    repo = begin(tmp_path)
    (repo.parent / "ws/piers.md").write_bytes(b"# Piers\n\n- The west pier is closed to cars.\n")
    asked: list[str] = []

    def answer(question: str) -> str:
        if "=== F" not in shown(question):
            return good(question)
        if "refused: " in shown(question):
            asked.append(shown(question))
        op = {"op": "add", "lines": "F1:5, F2:3", "text": "Ana keeps the west pier for Olga."}
        return json.dumps({"operations": [{**op, "type": "fact"}]})

    service.default = Act(answer=answer)
    run(repo)
    (first,) = asked
    assert '"lines": "F1:5, F2:3"' in first
    rows = [f"{n} - {line}" for n, line in enumerate(LINES, start=3)]
    assert "\n".join(("=== F1 harbour.md (page)", "1 # Harbour", *rows)) in first
    assert "=== F2 piers.md (page)\n1 # Piers\n3 - The west pier is closed to cars." in first


@pytest.mark.parametrize(("reason", "is_quoted"), [("F2:1 says cards too", False), ("no", True)])
def test_lines_that_a_later_one_overtakes_are_not_quoted(
    service: Service, tmp_path: Path, reason: str, is_quoted: bool
) -> None:
    repo = begin(tmp_path)
    (tmp_path / "ws/memory").mkdir()
    log = b"The fuel dock in Brevik takes cards too.\n"
    (tmp_path / "ws/memory/2026-03-01.md").write_bytes(log)

    def answer(question: str) -> str:
        if '{"items"' in shown(question):
            (row,) = (row for row in json.loads(shown(question))["items"] if "id" in row)
            assert row["later"] == ["F2:1 The fuel dock in Brevik takes cards too."]
            said = {"id": row["id"], "stated": False, "reason": reason}
            return json.dumps({"assessments": [said]})
        if "=== F" not in shown(question):
            return good(question)
        op = {"op": "add", "lines": "F1:6", "text": "Brevik's fuel dock takes cash only."}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(repo).exit == 0
    assert [*active(repo)] == [CASH] * is_quoted


def test_a_denied_wording_may_be_given_again_with_more_lines(
    service: Service, tmp_path: Path
) -> None:
    repo, text = begin(tmp_path), "Ana, the harbour master of Brevik, takes cash only."

    def answer(question: str) -> str:
        if '{"items"' in shown(question):
            return checked(question, lambda row: len(row["lines"]) > 1)
        if "=== F" not in shown(question):
            return good(question)
        lines = "F1:5-6" if "refused: " in shown(question) else "F1:5"
        op = {"op": "add", "lines": lines, "text": text, "type": "fact", "subject": "Ana"}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(repo).exit == 0
    assert active(repo) == {text: "fact"}


def test_a_text_like_one_of_an_earlier_night_is_shown_and_listed_by_the_next_pass(
    service: Service, tmp_path: Path
) -> None:
    """A question shows the memories like its lines, and the pass names the pair to join."""
    repo, again = begin(tmp_path), "Boats pay in cash only at the fuel dock in Brevik."
    service.default = Act(answer=good)
    assert run(repo).exit == 0
    names = "Alder Birch Cedar Dogwood Elm Fir Gum Hazel Ivy".split()
    new = [*(f"The boat {name} is moored at the west quay." for name in names), again]
    log = "# Log\n\n" + "".join(f"- {line}\n" for line in new)
    write(tmp_path / "ws", {"memory/2026-03-02.md": log.encode()})
    asked: list[str] = []

    def change(ids: dict[str, str]) -> dict[str, Any]:
        return {"changes": [{"change": "join", "ids": [ids[CASH], ids[again]], "text": CASH}]}

    def answer(question: str) -> str:
        asked.append(question)
        return arranging(change)(question)

    service.default = Act(answer=answer)
    assert run(repo, SECOND).exit == 0
    assert CASH in ids_of(asked[0])
    pair = [ids_of(asked[-1])[text] for text in (CASH, again)]
    alike = next(row for row in shown(asked[-1]).splitlines() if row.startswith("alike: "))
    assert {" ".join(pair), " ".join(pair[::-1])} & {*alike.removeprefix("alike: ").split(", ")}
    assert CASH in active(repo)
    assert again not in active(repo)
    assert len(next(m for m in memories(repo).values() if m.body.strip() == CASH).sources) == 2


def test_a_replacement_is_told_once_what_it_loses(service: Service, tmp_path: Path) -> None:
    old, new = "The fuel dock takes cash, see docks/brevik.md.", "The fuel dock takes cards only."
    text = "Only cards are taken by the fuel dock."  # the line itself would be quoted
    page = "# Docks\n\n- {}\n- All berths are in docks/brevik.md.\n"
    where = write(tmp_path / "ws", {"docks.md": page.format(old).encode()})
    done(tmp_path, "init", tmp_path / "repo", "--from", where)
    asked: list[str] = []

    def answer(question: str) -> str:
        if '{"items"' in shown(question) or "=== F" not in shown(question):
            return good(question)
        asked.extend(re.findall("still: m1 also states .*: keep it", shown(question)))
        op = {"op": "add", "lines": "F1:3", "text": old, "type": "fact"}
        if f"m1 | fact |  |  | {old}" in shown(question) or asked:
            op |= {"op": "replace", "id": "m1", "text": text}
        return json.dumps({"operations": [op]})

    service.default = Act(answer=answer)
    assert run(tmp_path / "repo").exit == 0
    write(where, {"docks.md": page.format(new).encode()})
    assert run(tmp_path / "repo", SECOND).data["quarantined"] == []
    assert asked == ["still: m1 also states docks/brevik.md: keep it"]
    assert set(active(tmp_path / "repo")) == {text}


def test_a_cited_heading_is_asked_for_once_more(service: Service, tmp_path: Path) -> None:
    repo = begin(tmp_path)
    asked: list[str] = []

    def answer(question: str) -> str:
        if "refused: " in shown(question):
            asked.append(shown(question))
            op = {"op": "add", "lines": "F1:3", "text": HOLM, "type": "fact"}
            return json.dumps({"operations": [op]})
        if "=== F" in shown(question):
            op = {"op": "add", "lines": "F1:1", "text": HOLM, "type": "fact"}
            return json.dumps({"operations": [op]})
        return good(question)

    service.default = Act(answer=answer)
    assert run(repo).exit == 0
    assert len(asked) == 1
    assert "states nothing by itself" in asked[0]
    assert f"3 - {HOLM}" in asked[0]
    assert set(active(repo)) == {HOLM}


def test_what_is_due_is_named_for_the_page_and_added_to_it(
    service: Service, tmp_path: Path
) -> None:
    """The question lists what ends within 30 days, and what each session loads by itself."""
    repo = begin(tmp_path)
    rule = "Nobody smokes on the fuel dock."
    (tmp_path / "ws/AGENTS.md").write_text(f"# Agents\n\n- {rule}\n")
    ends = {HOLM: "2026-03-28", NEW: "2026-03-31", OLD: "2026-04-02", CARDS: "2026-09-01"}

    def ending(question: str) -> str:
        def change(ids: dict[str, str]) -> dict[str, Any]:
            both = {"change": "join", "ids": [ids[CASH], ids[CARDS]], "text": f"{CASH} {CARDS}"}
            both["type"] = "commitment"
            return {"changes": [both], "page": [ids[ANA], ids[HOLM]]}

        given = json.loads(arranging(change)(question))
        for op in given.get("operations", ()):
            op["until"] = ends.get(op["text"], "")
        return json.dumps(given)

    service.default = Act(answer=ending)
    assert run(repo).exit == 0
    asked = next(q for q in service.questions() if "today: 2026-03-01" in q)
    ids = ids_of(asked)
    assert f"\ndue: {ids[HOLM]} 2026-03-28, {ids[NEW]} 2026-03-31\n" in asked
    assert f"\nloaded: {ids[rule]}\n" in asked
    joined = next(m for m in memories(repo).values() if m.body.strip() == f"{CASH} {CARDS}")
    assert joined.valid_until == ends[CARDS]  # a promise ends also where it is joined
    assert page_of(repo) == [ANA, HOLM]
    page = tmp_path / "ws/harbour.md"
    page.write_text(page.read_text() + "- A buoy was lost near the light.\n")
    assert run(repo, THIRD).exit == 0
    assert page_of(repo) == [ANA, HOLM, OLD, NEW]
    assert_sound(repo)
