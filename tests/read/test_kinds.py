"""What a file, a section and a thought is: by path, by shape, by a word of the heading."""

from __future__ import annotations

import pytest

from memrepo.read.kinds import (
    SIGN_LENGTH,
    file_kind,
    kinds,
    name_in,
    other_agents,
    path_kind,
    section_kind,
    signs_of,
    title_of,
)
from memrepo.read.thoughts import scan

PLAIN = "# Mill\n\nThe mill stands at the upper weir of the valley.\n"
FILES = [
    ("old/mill.md", PLAIN, "archive"),
    ("templates/day.md", PLAIN, "template"),
    (".cursor/rules/templates.mdc", PLAIN, "rules"),
    ("form.md", "# [Your name]\n\n- Owner: {{owner}}\n- [your town]\n", "template"),
    ("README.md", PLAIN, "article"),
    ("DREAMS.md", PLAIN, "wishes"),
    ("AGENTS.md", PLAIN, "instruction"),
    ("pulse.md", "".join(f"Pulse {n} of the pump was fine\n" for n in range(40)), "machine log"),
    (
        "2026-01-04.md",
        "# Session\n\nuser: dry?\nassistant: yes.\n\nuser: so?\nassistant: no.\n",
        "transcript",
    ),
    (
        "form.md",
        "# Ann\n\n- [项目类型]\n- [公司名称]\n- {{day}}\n" + "- It runs well.\n" * 9,
        "template",
    ),
    ("call.md", "user: is it dry?\nassistant: yes it is.\n" * 10, "transcript"),
    ("memory/2026-01-04.md", PLAIN, "day log"),
    ("MEMORY.md", PLAIN, "memory"),
    ("wet.md", "---\nname: wet\ndescription: No wet corn\n---\n\nNever.\n", "memory"),
    (
        "research/wet_2026-01-04.md",
        "---\nname: wet\ndescription: No wet corn\ntype: feedback\n---\n\nNever.\n",
        "memory",
    ),
    (
        "research/wet.md",
        "---\nname: wet\ndescription: No wet corn\n---\n\nNever.\n",
        "article",
    ),
    ("PROCEDURES.md", PLAIN, "procedures"),
    ("episodes/flood.md", PLAIN, "episode"),
    ("TOOLS.md", PLAIN, "tools"),
    ("USER.md", PLAIN, "profile"),
    ("brand-identity.md", PLAIN, "page"),
    ("decisions.md", PLAIN, "decisions"),
    ("house-rules.md", PLAIN, "rules"),
    ("todo.md", PLAIN, "plan"),
    ("mill.md", "- [ ] sweep\n- [x] oil\n", "plan"),
    ("index.md", PLAIN, "catalogue"),
    ("projects/mill.md", PLAIN, "project"),
    ("mill.md", PLAIN + "It grinds rye and oats for all. " * 300, "article"),
    ("mill-rules-draft.md", PLAIN, "article"),
    ("mill.md", PLAIN, "page"),
]


@pytest.mark.parametrize(("path", "text", "kind"), FILES)
def test_a_file_has_the_first_kind_that_fits(path: str, text: str, kind: str) -> None:
    found = file_kind(path, text, scan(path, text.encode()).units)
    assert found.kind.name == kind, found.reason
    assert found.reason


def test_every_kind_has_a_file_here_and_a_person_may_set_any() -> None:
    by_folder = {"other agent"}
    assert {kind.name for kind in kinds().kind} == {kind for _, _, kind in FILES} | by_folder
    assert file_kind("mill.md", PLAIN, (), override="rules").kind.name == "rules"


def test_a_folder_below_the_owner_s_with_a_profile_of_its_own_is_another_agent_s() -> None:
    names = ["USER.md", "memory/MEMORY.md", ".claude/USER.md", "agents/ada/MEMORY.md", "ox/SOUL.md"]
    assert other_agents(names) == {"agents/ada", "ox"}
    assert other_agents(["agents/ada/MEMORY.md", "agents/bob/MEMORY.md"]) == frozenset()
    assert other_agents(["home/ada/USER.md", "CLAUDE.md"]) == frozenset()
    programs = ["CODEX.md", ".github/copilot-instructions.md"]
    assert other_agents(["CLAUDE.md", *programs]) == set(programs)
    assert other_agents(["a/AGENTS.md", "a/CODEX.md", *programs]) == {"a/CODEX.md"}
    siblings = ["agents/ada/USER.md", "agents/bob/USER.md", "agents/bob/memory/log.md"]
    assert other_agents(siblings) == {"agents/ada"}, "the one with more files is the owner's"
    found = file_kind("ox/rules.md", PLAIN, (), others=other_agents(names))
    assert (found.kind.name, found.kind.cap) == ("other agent", 0)


@pytest.mark.parametrize(
    ("headings", "kind"),
    [
        (("Mill", "How the old wheel was turned by people in winter"), ""),
        (("Mill", "Rules for guests who turn the wheel of the mill"), "rule"),
        (("Mill", "Decisions"), "decision"),
        (("Mill", "Rules", "Wheel"), "rule"),
        (("Rules", "Wheel"), ""),
        (("Preferences",), "preference"),
        (("Mill", "2026-01-04"), "log"),
        (("Mill", "Entscheidungen"), "decision"),
        (("Mill",), ""),
        (("Mill", "Rule engine of the wheel"), "rule"),
        (("Mill", "Grain rule engine"), ""),
        (("Mill", "First plan of the wheel (superseded)"), "closed"),
        (("Mill", "Rules of the old wheel (archived)", "Grain"), "closed"),
    ],
)
def test_the_nearest_telling_heading_says_what_a_section_is(headings: tuple, kind: str) -> None:
    assert section_kind(headings) == kind


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("- Never grind wet corn.", "ban"),
        ("- Ana prefers rye bread.", "preference"),
        ("- We decided to sell the mill.", "decision"),
        ("- [x] Pay the miller today", "done"),
        ("- [ ] Order a new belt", "open_box"),
        ("- Who pays for the belt?", "question"),
        ("- src/mill/wheel.py", "path"),
        ("- Half of it: 3/8 done", "progress"),
        ("- **Avatar:**", "unset"),
        ("- Phone: _(not set)_", "unset"),
        ("- Voice: (if there is one, a warm one)", "unset"),
        ("- _A mill of one's own._", "italic"),
        ("(the mill as connected: belt, wheel and so on)", "italic"),
        ("- [The keys of the mill moved to the drawer]", "italic"),
        ("- Read TOOLS.md before you look for a tool.", "filing"),
        ('Never say:\n"The mill is never closed, come in."', "quoted"),
    ],
)
def test_a_thought_shows_its_signs(line: str, sign: str) -> None:
    (unit,) = scan("mill.md", f"# Mill\n\n{line}\n".encode()).units
    assert sign in signs_of(unit)


def test_the_parameters_of_commands_do_not_make_a_template() -> None:
    rules = "Put a new key away at once: `./keys.sh save <name> <value>`", "Never print a key."
    text = "# Rules\n\n" + "".join(f"- {rule}\n" for rule in rules)
    calls = "".join(f"./keys.sh {verb} <name>\n" for verb in ("save", "get", "drop"))
    text += f"\n## Keys\n\n```bash\n{calls}```\n"
    units = scan("CLAUDE.md", text.encode()).units
    assert file_kind("CLAUDE.md", text, units).kind.name == "instruction"
    assert not any("placeholder" in signs_of(unit) for unit in units[:2])
    blank = text.replace("`", "")
    units = scan("CLAUDE.md", blank.encode()).units
    assert file_kind("CLAUDE.md", blank, units).kind.name == "template"


def test_a_text_is_open_at_its_own_end_and_not_where_its_reading_ends() -> None:
    text = "The mill stands still in May. " * (SIGN_LENGTH // 30 + 1)
    cut = f"{text[: SIGN_LENGTH - 1]}: and so on."
    ended, open_ = scan("a.md", f"- {cut}\n- {cut}:\n".encode()).units
    assert "dangling" not in signs_of(ended)
    assert "dangling" in signs_of(open_)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("- **Name:** Ann Moe (miller)\n", "Ann Moe"),
        ("- **Name:**\n  Ann Moe\n- **Pronouns:**\n", "Ann Moe"),
        ("- **Name:**\n  _(pick something you like)_\n", ""),
        ("- **Name:**\n- **Town:** Holm\n", ""),
        ("# USER.md - Ann\n\n- **Name:**\n", "Ann"),
    ],
)
def test_the_name_of_a_profile_stands_beside_its_key_or_below_it(text: str, name: str) -> None:
    assert name_in(text.encode()) == name


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("MEMORY.md", "MEMORY"),
        ("sources/people/zink/MEMORY.md", "zink"),
        ("projects/alder/notes.md", "alder"),
        ("projects/alder/budget.md", "budget"),
        ("projects/README.md", "README"),
        ("memory/notes.md", "notes"),
        ("agents/scout/MEMORY.md", "scout"),
        (".claude/projects/-home-ana/memory/MEMORY.md", "MEMORY"),
    ],
)
def test_a_folder_names_the_subject_of_a_file_whose_name_says_nothing(
    path: str, title: str
) -> None:
    assert title_of(path) == title


@pytest.mark.parametrize(
    "name",
    [
        "MEMORY (Karls in Konflikt stehende Kopie 2026-05-09).md",
        "MEMORY (copia en conflicto de Ana 2026-05-09).md",
        "MEMORY (copie en conflit de Ana 2026-05-09).md",
        "MEMORY (Ana 的冲突副本 2026-05-09).md",
        "MEMORY - Kopie.md",
    ],
)
def test_a_conflict_copy_is_one_in_any_language(name: str) -> None:
    assert path_kind(name) == "archive"
