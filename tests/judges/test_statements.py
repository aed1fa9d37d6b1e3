"""What is put before a text so that it can be read alone, and which headings say something."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from memrepo.core.judge import Candidate
from memrepo.core.memory import Source, without_lead
from memrepo.judges.statements import packed, parts_of, whole
from memrepo.judges.wording import telling
from memrepo.purify.gather import Placed, gather, name_in, read_owners
from memrepo.read.thoughts import scan


def candidates(text: str, name: str = "memory/team.md", about: str = "") -> list[Candidate]:
    """Return the candidates of a source as a run gathers them."""
    daily = PurePosixPath(name).name.startswith("2026-")
    placed = [
        Placed(unit=u, resource=name, blob="0" * 40, committed="", about=about, daily=daily)
        for u in scan(name, text.encode()).units
    ]
    return list(gather(placed).candidates)


def texts(text: str, name: str = "memory/team.md", about: str = "") -> list[str]:
    return [whole(c)[1] for c in candidates(text, name, about)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "# Team\n\n## Ana (CTO)\n\n- **Hair**: short and brown\n",
            "Team – Ana (CTO) – Hair: short and brown",
        ),
        ("# Orchard\n\n- Orchard pays its bills in March\n", "Orchard pays its bills in March"),
        ("# Log\n\n## Ana\n\n- Ana lives in Porto\n", "Ana lives in Porto"),
        (
            "# Tools\n\n**Billing** - notes\n\n- restarts by itself after an hour\n",
            "Tools – Billing: restarts by itself after an hour",
        ),
        (
            "# Hosts\n\n| Host | Port |\n|---|---|\n| atlas | 8080 |\n",
            "Hosts – atlas – Port: 8080",
        ),
        ("# ana\n\n## Interests\n\n- bees\n- slow food\n", "ana – Interests: bees; slow food"),
        ("# Home\n\n## About Ana\n\n- has two cats\n", "Home – Ana: has two cats"),
        (
            "# Home\n\n## About the yard\n\n- has two gates\n",
            "Home – About the yard: has two gates",
        ),
        ("# 队伍\n\n## 规则\n\n- **语言:** 中文\n", "队伍 – 语言: 中文"),
        ("# Ana\n\n## Team\n\n## Team photos\n\n- in the yard\n", "Ana – Team photos: in the yard"),
        # A noun in front of a verb is no name: the text needs its heading.
        (
            "# Mill\n\n## Price page\n\n- Template uses one column\n",
            "Mill – Price page: Template uses one column",
        ),
        ("# Mill\n\n## Log\n\n- [2026-02-07 20:45] Ana oiled it\n", "Mill: Ana oiled it"),
        (
            "# Files\n\n- [wheel.md](memory/wheel.md) — the wheel and its belt\n",
            "Files – wheel.md: the wheel and its belt",
        ),
    ],
)
def test_a_text_says_what_it_stands_under_and_never_twice(text: str, said: str) -> None:
    assert said in texts(text)


def test_a_section_of_a_section_says_which_thing_of_many_it_is_about() -> None:
    above = "# Wheels and belts compared\n\n## What they are\n\n### Northern mill wheels and co"
    [said] = texts(f"{above}\n\n#### How it is fitted\n\n- by two men\n")
    head = "Wheels and belts compared – What they are – Northern mill wheels and co"
    assert said == f"{head} – How it is fitted: by two men"


def test_a_sentence_that_is_too_long_is_cut_where_a_clause_ends() -> None:
    clause = "the wheel of the mill " + "turns and " * 15 + "stops"
    listed = packed(f"(1) {clause}; (2) {clause}; (3) {clause}", [])
    assert [part[:4] for part in listed] == ["(1) ", "(3) "]
    told = packed(f"{clause}, and {clause}, and {clause}", [])
    assert [part[:4] for part in told] == ["the ", "and "]


@pytest.mark.parametrize("name", ["Vera Lind", "**Vera Lind**", "維拉"])
def test_each_part_of_a_long_line_is_said_of_what_the_line_names(name: str) -> None:
    told = "She keeps bees on the roof of the old mill and lends her van to whoever asks. "
    (one,) = candidates(f"# People\n\n- {name}: a friend since 2019. {told * 6}Plays the cello.\n")
    said = [whole(part.candidate)[1] for part in parts_of(one)]
    assert len(said) > 1
    assert all(name.strip("*") in text for text in said)


def test_what_a_line_hangs_on_stays_whole_but_for_which_change_or_day_that_was() -> None:
    what = "The wheel turns alone since a new and wider belt was put on it"
    [said] = texts(f"# Mill\n\n**{what} (7c1e09a):**\n\n- at night as well\n")
    assert said == f"Mill – {what}: at night as well"


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("## Orchard", "Orchard: the gate code lives in the shed"),
        (
            "## Panadería\n\n### Proveedores",
            "Panadería – Proveedores: the gate code lives in the shed",
        ),
        ("## 巣箱", "巣箱: the gate code lives in the shed"),
        # A kind of things, or what to do, names nothing: whose memory it is says more.
        ("## Rules", "Kestrel: the gate code lives in the shed"),
        ("## Décisions", "Kestrel – Décisions: the gate code lives in the shed"),
        ("## What to load first", "Kestrel – What to load first: the gate code lives in the shed"),
        ("## O que levar", "Kestrel – O que levar: the gate code lives in the shed"),
    ],
)
def test_an_agents_memory_says_whose_it_is_where_no_heading_names_a_thing(
    heading: str, said: str
) -> None:
    text = f"# MEMORY.md\n\n{heading}\n\n- the gate code lives in the shed\n"
    assert texts(text, "MEMORY.md", "Kestrel") == [said]


def test_added_words_are_told_apart_from_the_evidence() -> None:
    [candidate] = candidates("# Atlas\n\n- restarts by itself after an hour\n")
    lead, text = whole(candidate)
    assert (lead, text) == ("Atlas", "Atlas: restarts by itself after an hour")
    assert without_lead(text, lead) == candidate.text


def test_a_profile_is_about_whom_it_names() -> None:
    user = b"# USER.md - About Your Human\n\n- **Name:** Vera Holt (she/her)\n- **Timezone:** UTC\n"
    owners = read_owners([("USER.md", user), ("agents/x/USER.md", b"- **Name:** _(optional)_\n")])
    assert owners.of("USER.md") == "Vera Holt"
    assert owners.of("agents/x/USER.md") == "User"
    assert owners.of("memory/team.md") == ""
    assert "Vera Holt – Timezone: UTC" in texts(user.decode(), "USER.md", "Vera Holt")


OWNERS = read_owners(
    [
        ("USER.md", b"- **Name:** Vera\n"),
        ("IDENTITY.md", b"- **Name:** Otto\n"),
        ("team/memory/persona.md", b"I am Kiku - the agent of the team.\n"),
    ]
)


@pytest.mark.parametrize(
    ("name", "text", "who"),
    [
        ("TOOLS.md", "# Tools\n\n- the wiki runs on atlas\n", "Otto"),
        ("MEMORY.md", "# Memory\n\n## About my human\n\n- the piano is new\n", "Vera"),
        ("MEMORY.md", "# Memory\n\n## Sobre o usuário\n\n- o piano é novo\n", "Vera"),
        ("memory/garden.md", "# Garden\n\n- my shed faces south\n", "Otto"),
        ("memory/garden.md", '# Garden\n\n- "my shed" is a song of the band\n', ""),
        ("memory/garden.md", "# Garten\n\n- ich gieße am Abend\n", "Otto"),
        ("memory/garden.md", "# 庭\n\n- 私は夕方に水をやる\n", "Otto"),
        ("memory/garden.md", "# Garden\n\n- the shed faces south\n", ""),
        ("memory/garden.md", "# Garden\n\n## What I want\n\n- a shed that faces south\n", "Otto"),
        ("memory/plans.md", "# Goals & Objectives\n\n- a second pump for the well\n", "Otto"),
        ("memory/plans.md", "# Цели\n\n- второй насос для колодца\n", "Otto"),
        ("memory/plans.md", "# Goals of the garden\n\n- a second pump for the well\n", ""),
        ("team/memory/plans.md", "# Goals\n\n- a second pump for the well\n", "Kiku"),
        ("team/memory/human.md", "- lives by the sea\n", "Vera"),
    ],
)
def test_a_line_is_about_the_person_or_the_agent_where_it_shows(
    name: str, text: str, who: str
) -> None:
    [unit] = scan(name, text.encode()).units
    assert OWNERS.of(name, unit) == who


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("IDENTITY.md", "- **Name:** Otto\n", "Agent – Name: Otto"),
        ("IDENTITY.md", "- **名前:** オット\n", "エージェント – 名前: オット"),
        ("USER.md", "- **Nome:** Vera Holt\n", "Usuário – Nome: Vera Holt"),
        ("USER.md", "# User\n\n- **What to call them:** Vee\n", "User – What to call them: Vee"),
        ("USER.md", "- **称呼:** 海叔\n", "用户 – 称呼: 海叔"),
        ("memory/team.md", "# Team\n\n- **Name:** Vera Holt\n", "Team – Name: Vera Holt"),
    ],
)
def test_a_profile_says_whose_name_it_gives(name: str, text: str, said: str) -> None:
    assert texts(text, name) == [said]


def test_the_first_line_of_a_list_may_say_what_the_others_are_about() -> None:
    shop = "## Key Facts\n\n- Orchard is a small web shop for apples\n- ships on Mondays only\n"
    assert "Orchard: ships on Mondays only" in texts(shop, "memory/memory.md")
    people = "## Key Facts\n\n- Ana is a designer\n- the office is in Porto\n"
    assert "the office is in Porto" in texts(people, "memory/memory.md")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("the pump is currently off", "Well (2026-03-04): the pump is currently off"),
        ("the pump needs two litres of oil", "Well: the pump needs two litres of oil"),
        ("on 2026-03-04 the pump was fixed", "Well: on 2026-03-04 the pump was fixed"),
    ],
)
def test_what_held_on_a_day_says_on_which(line: str, said: str) -> None:
    assert texts(f"# 2026-03-04\n\n## Well\n\n- {line}\n", "memory/2026-03-04.md") == [said]


def test_a_text_that_says_who_still_says_under_which_topic() -> None:
    text = "# Rules\n\n## Orchard shop\n\n- Ana likes short names\n"
    assert texts(text, "memory/rules.md") == ["Orchard shop: Ana likes short names"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I am Otto, an agent.\n", "Otto"),
        ("- **Name:** Ana\n", "Ana"),
        ("- **Name**: Ana — helper\n", "Ana"),
        ("- **名字:** 小海\n", "小海"),
        ("# USER.md — Rui Alves\n\n- likes tea\n", "Rui Alves"),
        ("# IDENTITY.md - Who Am I?\n", ""),
        ("# Rui Alves\n\n- likes tea\n", "Rui Alves"),
        ("# User Profile\n\n- likes tea\n", ""),
        ("# likes tea\n", ""),
        ("- **Name:** _(pick one)_\n", ""),
        ("- **Name:**\n- **Age:** 3\n", ""),
    ],
)
def test_a_name_is_read_and_a_placeholder_is_none(text: str, name: str) -> None:
    assert name_in(text.encode()) == name


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("## [19:00] Pump check — done by Ana", ["Pump check — done by Ana"]),
        ("13:56 session 1", []),
        ("2026-02-15 Session Log", []),
        ("2026-02-22 (Sunday)", []),
        ("Key Facts", []),
        ("**🔧 Hosts**", ["Hosts"]),
        ("MEMORY.md - The garden", ["The garden"]),
        ("3. How we work", ["How we work"]),
        ("Approval (2026-02-05)", ["Approval"]),
        ("2026-02-20 (late) + 2026-02-21 — The new well", ["The new well"]),
        ("2026-02-20 to 2026-02-21 — The new well", ["The new well"]),
        ("assistant: ✅ the new well is dug", []),
        ("Notizen vom 15.11.", []),
        ("Notes of release 3.11", ["Notes of release 3.11"]),
    ],
)
def test_headings_lose_marks_and_moments_and_generic_ones_say_nothing(
    heading: str, said: list[str]
) -> None:
    assert list(telling((heading,))) == said


MEMORY_FILE = """\
---
name: feedback_short-mails
description: Mails to customers have at most five lines
metadata:
  type: feedback
---

**Why:** long ones are not read.

**How to apply:** cut before sending.
"""


def test_an_agents_memory_file_is_one_memory_with_its_body_as_detail() -> None:
    [candidate] = candidates(MEMORY_FILE, "memory/feedback_short-mails.md")
    assert candidate.type_hint == "constraint"
    assert candidate.detail.startswith("**Why:**")
    statement = candidate.text.removesuffix(candidate.detail).strip()
    assert statement == "Mails to customers have at most five lines"
    assert candidate.about == "short-mails"
    [unnamed] = candidates(MEMORY_FILE.replace("short-mails", "notes"), "memory/feedback_notes.md")
    assert unnamed.about == ""


def test_numbered_steps_are_one_unit_and_other_numbered_lists_are_not() -> None:
    steps = "# Release workflow\n\n1. Tag the commit on main\n2. Push the tag to the hub\n"
    [unit] = scan("memory/release.md", steps.encode()).units
    assert (unit.kind, unit.lines, unit.detail) == ("steps", (3, 4), unit.text)
    wishes = "# Wishes\n\n1. A shed with a window to the south\n2. A second pump for the well\n"
    assert [u.kind for u in scan("memory/w.md", wishes.encode()).units] == ["bullet", "bullet"]


def test_without_a_heading_the_name_of_the_file_says_what_it_is_about() -> None:
    lone = Candidate(candidate_id="c", text="bees", sources=(Source(resource="sources/roof.md"),))
    assert whole(lone) == ("roof", "roof: bees")
