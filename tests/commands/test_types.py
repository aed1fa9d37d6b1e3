"""The type of a memory is what its sentence states, in any of the languages; else it is a fact."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, memories, memrepo

from memrepo.actions.write import triple_after
from memrepo.core.memory import Memory

STATED = {
    "We decided to buy the barley at the mill in Arle.": "decision",
    "Wir haben beschlossen, die Gerste in Arle zu kaufen.": "decision",
    "Decidimos comprar la cebada en el molino de Arle.": "decision",
    "Мы решили покупать ячмень на мельнице в Арле.": "decision",
    "Vera prefers the coarse malt for the winter beer.": "preference",
    "Vera préfère le malt grossier pour la bière d'hiver.": "preference",
    "Vera prefere o malte grosso para a cerveja de inverno.": "preference",
    "We will deliver two casks to the inn at Hoden.": "commitment",
    "Jonas hat versprochen, dem Wirt in Hoden zwei Fässer zu liefern.": "commitment",
    "The mill in Arle grinds barley and rye.": "fact",
}


UNSTATED = (
    "Added the page on which the board decided to list prices.",
    "The approved list of hops hangs beside the kettle.",
    "Malt comes from the west gate.",
)


def typed(base: Path, text: str) -> dict[str, str]:
    workspace = base / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    done(base, "init", "repo", "--from", workspace)
    done(base / "repo", "run")
    return {m.body: m.type for m in memories(base / "repo").values()}


def test_a_plain_sentence_states_its_type(tmp_path: Path) -> None:
    lines = "".join(f"- {text}\n" for text in STATED)
    assert typed(tmp_path, f"# Brewery\n\n## Yard\n\n{lines}") == STATED


@pytest.mark.parametrize("heading", ["Workflow", "Security"])
def test_what_states_nothing_is_a_fact_below_a_heading_about_acting(
    tmp_path: Path, heading: str
) -> None:
    lines = "".join(f"- {text}\n" for text in UNSTATED)
    found = typed(tmp_path, f"# Brewery\n\n## {heading}\n\n{lines}")
    assert set(found.values()) <= {"fact", "procedure"}


def test_what_stands_below_rules_is_one(tmp_path: Path) -> None:
    found = typed(tmp_path, "# Brewery\n\n## House rules\n\n- Malt comes through the west gate.\n")
    assert found == {"Malt comes through the west gate.": "constraint"}


GONE = {"predicate": None, "object": None}


def claim(body: str, subject: str = "", predicate: str = "", value: str = "") -> Memory:
    fields = {"type": "fact", "subject": subject, "predicate": predicate, "object": value}
    return Memory.of(path="a.md", body=body, fields={k: v for k, v in fields.items() if v})


EDITOR = claim("Editor: vim", "Tools", "Editor", "vim")


ANA = claim("Ana prefers tea.", "Ana", "prefers", "tea")


@pytest.mark.parametrize(
    ("memory", "text", "changes"),
    [
        (EDITOR, "Editor: helix", {"object": "helix"}),
        (EDITOR, "**Editor:** helix", {"object": "helix"}),
        (EDITOR, "**Shell:** fish", {"predicate": "Shell", "object": "fish"}),
        (EDITOR, "The editor is helix now.", GONE),
        (EDITOR, "The editor is still vim, of course.", {}),
        (ANA, "Ana prefers coffee.", GONE),
        (ANA, "As for tea, she prefers it.", {}),
        (ANA, "Nobody knows what she drinks.", GONE),
        (claim("A text.", "Ana", "prefers", "coffee"), "Ana prefers tea.", {}),
        (claim("A text."), "Ana prefers tea.", {}),
        (
            Memory.of(
                path="a.md", body="Ana prefers tea.", fields={"type": "note", "object": "tea"}
            ),
            "Ana prefers coffee.",
            {},
        ),
    ],
)
def test_the_triple_follows_where_the_reader_is_sure(
    memory: Memory, text: str, changes: dict[str, str | None]
) -> None:
    assert triple_after(memory, text) == changes


def test_what_is_set_by_hand_wins_over_what_is_read(small_repo: Path) -> None:
    id_ = next(i for i, m in memories(small_repo).items() if m.object)
    old = memories(small_repo)[id_]
    key, text = old.predicate, f"{old.predicate}: something else"
    done(small_repo, "edit", id_, "--text", text, now=LATER)
    assert memories(small_repo)[id_].object == "something else"
    done(small_repo, "edit", id_, "--text", f"{key}: third", "--set", "object=mine", now=LATER)
    assert memories(small_repo)[id_].object == "mine"


NOTES = """\
# Memory

## Rules

- Never sand the hull while it is wet.
- Always coil the blue hose after washing.

## Projects

- The teak bench for the harbour is half built.

## Harbour

- The rules of the yacht club hang beside the slipway.
"""


RULES = {"Never sand the hull while it is wet.", "Always coil the blue hose after washing."}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kinds")
    (base / "workspace").mkdir()
    (base / "workspace" / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    done(base, "init", base / "repo", "--from", "workspace")
    done(base / "repo", "run")
    return base / "repo"


def found(repo: Path, *argv: str) -> list[str]:
    return [hit["text"] for hit in done(repo, "search", "--no-touch", *argv)["hits"]]


@pytest.mark.parametrize(
    "asked",
    ["rules", "What are our rules?", "Regeln", "规则", "有哪些规则", "quelles sont les règles"],
)
def test_a_bare_kind_lists_it_in_any_language(repo: Path, asked: str) -> None:
    assert set(found(repo, asked)[:2]) == RULES


def test_a_kind_without_a_type_is_told_by_its_heading(repo: Path) -> None:
    assert found(repo, "my", "projects")[0] == "The teak bench for the harbour is half built."


def test_what_holds_the_words_comes_after_what_is_of_the_kind(repo: Path) -> None:
    hits = found(repo, "rules")
    assert hits[2:] == ["The rules of the yacht club hang beside the slipway."]
    said = memrepo(repo, "search", "rules", "--no-touch", as_json=False).out
    assert said.count("(score") == 1, "what is listed has no score"


def test_a_question_of_more_than_a_kind_and_one_that_is_limited_go_by_the_words(repo: Path) -> None:
    assert found(repo, "rules", "of", "the", "yacht", "club")[0].startswith(
        "The rules of the yacht"
    )
    assert set(found(repo, "rules", "--type", "fact")).isdisjoint(RULES)


def test_no_more_is_listed_than_was_asked_for(repo: Path) -> None:
    assert len(found(repo, "rules", "-k", "1")) == 1
