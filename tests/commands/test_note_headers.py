"""Properties and tags of notes: search finds them, and memories have the tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, begin, done, git, memories, memrepo

from memrepo.core.memory import Memory, Source
from memrepo.policies.first_page import is_of_contact

NOTE = """---
type: person
phone: 0555-010-377
aliases: [The Baker]
tags:
  - Person
  - "#guild/bakers"
partners:
  - "[[Rasmus Holt]]"
empty:
created: 2026-02-11
---
# Vera Lind

- Vera prefers rye from the mill in Lom.
- The oven of Vera is lit at four.
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return the repository of a small vault after its first run."""
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Vera Lind.md").write_text(NOTE)
    header = '---\ncreated: 2026-02-12\nfed_by:\n  - "[[Reservoir]]"\n---\n'
    (vault / "Mill.md").write_text(f"{header}# Mill\n\n- The mill in Lom grinds rye on Mondays.\n")
    return begin(tmp_path, vault)


def passages(repo: Path, *words: str) -> list[str]:
    """Return the texts of the passages that a search finds."""
    return [p["text"] for p in done(repo, "search", "--no-touch", *words)["passages"]]


@pytest.mark.parametrize(
    ("word", "text", "lines"),
    [
        ("baker", "phone: 0555-010-377\naliases: [The Baker]", [3, 4]),
        ("reservoir", 'fed_by:\n  - "[[Reservoir]]"', [3, 4]),
    ],
)
def test_the_properties_of_a_note_are_passages_below_its_title(
    repo: Path, word: str, text: str, lines: list[int]
) -> None:
    (found,) = done(repo, "search", "--no-touch", word)["passages"]
    title = "Vera Lind" if word == "baker" else "Mill"
    assert (found["text"], found["lines"], found["context"]) == (text, lines, title)


@pytest.mark.parametrize("word", ["0555-010-377", "holt"])
def test_the_properties_of_a_persons_note_are_one_memory_of_that_person(
    repo: Path, word: str
) -> None:
    (found,) = done(repo, "search", "--no-touch", word)["hits"]
    assert found["text"] == "phone: 0555-010-377\npartners: [[Rasmus Holt]]"
    assert memories(repo)[found["id"]].subject == "Vera Lind"


@pytest.mark.parametrize("word", ["empty", "created"])
def test_what_only_sorts_notes_is_no_passage(repo: Path, word: str) -> None:
    assert passages(repo, word) == []


def test_the_tags_of_a_note_are_those_of_its_memories_and_passages(repo: Path) -> None:
    found = [m for m in memories(repo).values() if "Vera" in m.body]
    assert found
    assert {m.tags for m in found} == {("Person", "guild/bakers")}
    answer = done(repo, "search", "--no-touch", "--tag", "guild/bakers", "rye", "oven", "mill")
    places = [h["sources"][0]["resource"] for h in answer["hits"]]
    places += [p["resource"] for p in answer["passages"]]
    assert {*places} == {"sources/Vera Lind.md"}


@pytest.mark.parametrize(
    ("tag", "has"),
    [
        ("guild/bakers", True),
        ("Guild/BAKERS", True),
        ("guild", True),
        ("Person", True),
        ("person", True),
        ("bakers", False),
        ("guil", False),
        ("person/guild", False),
    ],
)
def test_a_tag_finds_any_case_and_the_tags_below_it(repo: Path, tag: str, has: bool) -> None:
    found = done(repo, "search", "--no-touch", "--tag", tag, "baker", "prefers", "rye")
    assert (bool(found["hits"]), bool(found["passages"])) == (has, has)
    if not has:
        assert found["why"].endswith("without --tag")
        said = done(repo, "search", "--no-touch", "--tag", tag, "zebra")["why"]
        assert said == "no memory or note with this tag contains any of these words"


def test_a_tag_that_the_vocabulary_lacks_is_left_out(repo: Path) -> None:
    config = repo / "memrepo.toml"
    config.write_text(config.read_text() + '\n[tags]\nvocabulary = ["guild/*"]\n')
    git(repo, "commit", "-qam", "Allow few tags")
    note = repo.parent / "vault" / "Vera Lind.md"
    note.write_text(f"{NOTE}- Vera built the oven in 1911 with her brother.\n")
    done(repo, "run", now=LATER)
    (new,) = (m for m in memories(repo).values() if "1911" in m.body)
    assert new.tags == ("guild/bakers",)


def test_one_line_with_a_foreign_word_names_no_language_of_the_notes(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    lines = "".join(f"## Shelf {n}\n\n- Row {n} of the mill is full.\n\n" for n in range(60))
    (vault / "Mill.md").write_text(f"# Mill\n\n{lines}- Fair in Markneukirchen, met a miller.\n")
    repo = begin(tmp_path, vault)
    (vault / "Öfen.md").write_text("# Öfen\n\n- Der Ofen ist für die Gäste.\n" * 3)
    advice = memrepo(repo, "search", "--no-touch", "zebra").out
    assert "Dutch" not in advice
    done(repo, "run", now=LATER)
    assert "German" in memrepo(repo, "search", "--no-touch", "zebra").out


# -- notes about people and projects -----------------------------------------------------------

KILN = """---
status: {status}
deadline: 2026-03-20
owner: "[[Vera Lind]]"
aliases: [Ofen]
publish: true
phase: <% tp.date.now() %>
tags: [clay]
---
# Kiln

## Fakten

- The kiln is lined with bricks from Lom.
"""


ME = "- Ich bin Mia, Töpferin in Lom.\n- Allergisch gegen Nüsse.\n- Arbeite nur halbtags."
BELT = "The new belt works since noon, tested by Lea."


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return the repository of a vault with folders of people and of projects."""
    notes = {
        "Leute/Vera Lind.md": "## Fakten\n\n- Telefon ist ihr lieber als Mail.\n- Backt in Lom.\n",
        "Leute/Rasmus Holt.md": "# Rasmus Holt\n\n## Preferences\n\n- Prefers short mails.\n",
        "2 Projekte/Kiln.md": KILN.format(status="active"),
        "2 Projekte/Oven.md": "status:: on hold\ndue:: 2026-03-25\n# Oven\n\n- Lit at four.\n",
        "2 Projekte/Horno/Horno.md": "---\nestado: en curso\n---\n# Horno\n",
        "Leute/Lea.md": "# Lea\n#familie #freunde\nWohnt in Lom, schreibt lieber Briefe.\n",
        "Übersicht.md": "# Übersicht\n\n- [[Kiln]]\n- [[Horno|Der neue Ofen]]\n",
        "decisions.md": "# Decisions\n\n- 2026-02-20: We fire with wood only.\n",
        "2026-02-27.md": f"# 2026-02-27\n\n## Glaze mill\n\n- {BELT}\n",
        "Über mich.md": "# Über mich\n\n- Ich mag keine Anrufe vor zehn.\n",
        "Notes/Holt.md": "---\ntype: contact\n---\n## Daten\n\n- Prefers rye from the mill.\n",
    }
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    for name, text in notes.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text)
    return begin(tmp_path, vault)


def page(repo: Path) -> dict[str, str]:
    """Map the lines of the first page, without ids, to their sections."""
    found, section = {}, ""
    for line in (repo / "MEMORY.md").read_text().splitlines():
        section = line[3:] if line.startswith("## ") else section
        if line.startswith("- "):
            found[line[2:].partition(" ←")[0]] = section
    return found


def test_what_a_note_says_of_a_person_is_never_the_owners(shop: Path) -> None:
    found = page(shop)
    assert found["Vera Lind: Telefon ist ihr lieber als Mail."] == "People"
    assert found["Rasmus Holt: Prefers short mails."] == "People"
    assert found["Holt: Prefers rye from the mill."] == "People"
    assert "The kiln is lined with bricks from Lom." in found
    subjects = {m.body: m.subject for m in memories(shop).values()}
    assert subjects["Telefon ist ihr lieber als Mail."] == "Vera Lind"
    assert subjects["Prefers short mails."] == "Rasmus Holt"
    assert subjects["Prefers rye from the mill."] == "Holt"
    assert subjects["The kiln is lined with bricks from Lom."] == "Kiln"


@pytest.mark.parametrize(
    ("subject", "file", "is_note"),
    [
        ("Vera Lind", "people/vera-lind.md", True),
        ("Ines at the door", "people/office.md", False),
        ("Coordination", "shared/TEAM.md", False),
    ],
)
def test_a_section_of_a_file_about_several_people_is_no_note(
    subject: str, file: str, is_note: bool
) -> None:
    sources = (Source(resource=f"sources/{file}", lines=(4, 4)),)
    fields = {"type": "fact", "subject": subject, "context": subject, "sources": sources}
    memory = Memory.of("memories/knowledge/x.md", fields, body="Never opens before ten.")
    assert is_of_contact(memory) == is_note


def test_the_note_that_is_named_for_the_owner_is_the_owners(shop: Path) -> None:
    note = shop.parent / "vault/Über mich.md"
    note.write_text(f"{note.read_text()}{ME}\n")
    done(shop, "run", now=LATER)
    found = page(shop)
    assert found["Ich mag keine Anrufe vor zehn."] == "Preferences"
    assert [found[line[2:]] for line in ME.split("\n")] == ["User"] * 3


def test_the_properties_of_a_project_are_one_memory_that_follows_them(shop: Path) -> None:
    found = page(shop)
    assert found["Kiln: status: active · deadline: 2026-03-20 · owner: [[Vera Lind]]"] == "Projects"
    assert found["Oven: status: on hold · due: 2026-03-25"] == "Projects"
    assert found["Horno: estado: en curso"] == "Projects"
    (old,) = (m.id for m in memories(shop).values() if m.body.startswith("status: active"))
    note = shop.parent / "vault/2 Projekte/Kiln.md"
    note.write_text(KILN.format(status="done"))
    done(shop, "run", now=LATER)
    states = {m.id: m.body for m in memories(shop).values() if "Vera Lind" in m.body}
    assert states == {old: "status: done\ndeadline: 2026-03-20\nowner: [[Vera Lind]]"}
    assert not [line for line in page(shop) if "status: done" in line]


def test_a_line_of_links_or_of_tags_says_nothing(shop: Path) -> None:
    assert page(shop)["Lea: Wohnt in Lom, schreibt lieber Briefe."] == "People"
    assert not [m.body for m in memories(shop).values() if m.body.startswith("[[")]


def test_a_dated_decision_is_on_the_page_with_its_day(shop: Path) -> None:
    assert "We fire with wood only. (2026-02-20)" in page(shop)


def test_status_counts_the_lines_that_the_page_has(shop: Path) -> None:
    found = page(shop)
    assert "Lately" in found.values()
    assert done(shop, "status")["budgets"]["bullets"] == len(found)


def test_a_renamed_note_gives_its_memories_the_new_name(shop: Path) -> None:
    people = shop.parent / "vault/Leute"
    (people / "Vera Lind.md").rename(people / "Vera Holt.md")
    done(shop, "run", now=LATER)
    (found,) = (m for m in memories(shop).values() if m.body.startswith("Telefon"))
    assert (found.subject, found.context) == ("Vera Holt", "Vera Holt › Fakten")
