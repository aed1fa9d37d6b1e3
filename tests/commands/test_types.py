"""The type of a memory is what its sentence states, in any of the languages; else it is a fact."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, memories

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
