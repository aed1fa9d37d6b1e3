"""What becomes of memories when their files are edited: which is which, and what still holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from driving import done, memories
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.core.memory import Memory

FIRST = datetime(2026, 4, 1, 4, tzinfo=UTC)
HOUSE = (
    "- The gas meter is in the hall.",
    "- The roof was repaired by Dachbau Lenz.",
    "- Water is turned off in the laundry room.",
)


class Nights:
    """A workspace and its repository; each night is a day later, and files are of that day."""

    def __init__(self, base: Path, files: Mapping[str, str]) -> None:
        self.workspace, self.repo, self.day = base / "agent", base / "memory", FIRST
        self.night(files, first=base)

    @property
    def now(self) -> str:
        """Return the time of the last night."""
        return f"{self.day:%Y-%m-%dT%H:%M:%SZ}"

    def night(self, files: Mapping[str, str], *argv: str, first: Path | None = None) -> Any:
        """Write files, and run."""
        self.day += timedelta(days=1)
        at = self.day.timestamp() - 3600
        for name, text in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (at, at))
        if first:
            done(first, "init", "memory", "--from", "agent", now=self.now)
        return done(self.repo, "run", *argv, now=self.now)

    def claims(self) -> list[Memory]:
        """Return the memories in recall that are no notes, by text."""
        found = (m for m in memories(self.repo).values() if m.status == "active" and not m.is_note)
        return sorted(found, key=lambda m: (m.body, m.context))

    def texts(self) -> list[str]:
        """Return what is in force."""
        return [m.body for m in self.claims() if m.standing != "retire_candidate"]

    @property
    def page(self) -> str:
        """Return the first page."""
        name = next(n for n in ("HOT.md", "MEMORY.md") if (self.repo / n).exists())
        return (self.repo / name).read_text("utf-8")


def listed(title: str, *lines: str) -> str:
    """Return a file with one section."""
    return "\n".join(("# Memory", "", f"## {title}", "", *lines, ""))


RULES = (
    "- Bea opens the workshop at seven and lights the stove before anybody comes.",
    "- The big kiln is never fired while the school class is in the building.",
    "- Glaze number four is mixed by Jonas only, with the scale from the office.",
    "- Orders over two hundred euros need a deposit of one third before work.",
)
OVENS = (
    "| Oven | Place | Owner |",
    "|---|---|---|",
    "| Big kiln | cellar, behind the stairs | Bea |",
)
OVENS += ("| Test kiln | shelf above the sink in the office | Jonas |", "| Raku | yard | Mia |")


def test_a_list_that_grew_too_long_for_one_statement_stays_one_memory(tmp_path: Path) -> None:
    lead = "Whoever works here follows these rules:\n"
    nights = Nights(tmp_path, {"MEMORY.md": listed("Pottery", lead, *RULES)})
    (one,) = nights.claims()
    more = f"- {'The key of the glaze cupboard hangs in the office. ' * 3}Jonas has the other."
    nights.night({"MEMORY.md": listed("Pottery", lead, *RULES[:2], more, *RULES[2:])})
    (now,) = nights.claims()
    assert now.id == one.id
    assert more in now.body
    assert now.body.startswith("Whoever works here")
    nights.night({}, "--mode", "reconciliation")
    assert [m.body for m in nights.claims()] == [now.body]
    nights.night({"MEMORY.md": listed("Pottery", lead, *RULES[1:2], more, *RULES[2:])})
    assert RULES[0] not in nights.texts()[0]
    nights.night({"MEMORY.md": listed("Pottery", "- The pottery closed for good in March.")})
    assert not [text for text in nights.texts() if RULES[3] in text]


def test_a_table_with_an_edited_row_is_reworded_when_it_is_read_by_rows(tmp_path: Path) -> None:
    nights = Nights(tmp_path, {"MEMORY.md": listed("Ovens of the pottery", *OVENS)})
    (one,) = nights.claims()
    first = f"| Big kiln | {'cellar, next to the boiler, ' * 20} | Bea |"
    nights.night({"MEMORY.md": listed("Ovens of the pottery", *OVENS[:2], first, *OVENS[3:])})
    (now,) = nights.claims()
    assert now.id == one.id
    assert now.body.split("\n") == [*OVENS[:2], first, *OVENS[3:]]


def sections(office: str, home: str) -> str:
    """Return a file in which two things have a line each."""
    return f"# Tools\n\n## Office printer\n\n{office}\n\n## Home printer\n\n{home}\n"


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("- Model: HP 4000", "- Model: Brother 9"),
        ("- The tray jams on thick paper.", "- The tray was replaced in May."),
        ("- Jams often.", "- Jams seldom."),
    ],
)
def test_equal_text_under_two_headings_is_two_statements(
    tmp_path: Path, line: str, edited: str
) -> None:
    nights = Nights(tmp_path, {"TOOLS.md": sections(line, line)})
    assert [m.context for m in nights.claims()] == [
        "TOOLS › Home printer",
        "TOOLS › Office printer",
    ]
    nights.night({"TOOLS.md": sections(edited, line)})
    nights.night({}, "--mode", "reconciliation")
    assert {(m.body, m.context) for m in nights.claims()} == {
        (line[2:], "TOOLS › Home printer"),
        (edited[2:], "TOOLS › Office printer"),
    }
    assert {m.standing or "resolved" for m in nights.claims()} == {"resolved"}


@pytest.mark.parametrize("title", ["Both printers", "Printers in use"])
def test_equal_lines_that_one_section_joins_still_hold(tmp_path: Path, title: str) -> None:
    line = "- The tray jams on thick paper."
    nights = Nights(tmp_path, {"TOOLS.md": sections(line, line)})
    joined = f"# Tools\n\n## {title}\n\n{line}\n"
    nights.night({"TOOLS.md": joined})
    nights.night({}, "--mode", "reconciliation")
    assert line[2:] in nights.texts()
    assert not [m for m in nights.claims() if m.standing == "retire_candidate"]
    nights.night({"TOOLS.md": f"# Tools\n\n## {title}\n\n- Paper is in the cellar.\n"})
    assert line[2:] not in nights.texts()


FORMS = (
    "- VPN port is {}.",
    "- Cat: {}",
    "- {} serves the wiki.",
    "- Lives in {}",
    "- The office printer on the second floor is called {}.",
)
VALUES = ("Minka", "Felix", "Gera", "1194")
VERSIONS = st.lists(st.tuples(*(st.sampled_from(VALUES) for _ in FORMS)), min_size=2, max_size=2)


@given(VERSIONS)
@settings(max_examples=3)
def test_reading_an_unchanged_workspace_again_adds_nothing(
    tmp_path_factory: pytest.TempPathFactory, versions: list[tuple[str, ...]]
) -> None:
    first, *later = (
        listed("Team", *(form.format(v) for form, v in zip(FORMS, values, strict=True)))
        for values in versions
    )
    nights = Nights(tmp_path_factory.mktemp("edits"), {"MEMORY.md": first})
    for text in later:
        nights.night({"MEMORY.md": text})
    again = nights.night({}, "--mode", "reconciliation")
    assert again["status"] == "skipped"
    nights.night({"memory/team.md": [*later][-1].replace("# Memory\n\n", "")})
    assert len({*nights.texts()}) == len(nights.texts())
