"""The first page: what logs of the last days emphasise comes before other lines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.core.manifest import Accesses
from memrepo.core.memory import Memory, Source
from memrepo.policies.first_page import FEW, MAX_STATES, compose

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
TOLD = (
    "Jona repairs the mixer with brass screws",
    "Lea painted every window green last spring",
    "The choir rents our cellar on Fridays",
    "Kim locks both gates at midnight",
    "Salt comes from a mine near Wieliczka",
    "Eve counts the till before lunch",
    "Our ladder hangs behind the boiler",
    "Rye dough rests for eleven hours",
    "The bicycle has a new front wheel",
    "Gus writes invoices by hand",
)


def memory(number: int, text: str, file: str, **fields: object) -> Memory:
    day = file[7:17] if file.startswith("memory/") else ""
    source = Source(
        resource=f"sources/{file}", lines=(number, number), captured=day, captured_from="file"
    )
    made = {"id": f"mem-{number:016x}", "type": "fact", "created": NOW, "context": f"Shop {number}"}
    return Memory.of(
        f"memories/knowledge/{number}.md", {**made, **fields, "sources": (source,)}, body=text
    )


def page(*memories: Memory, budget: int) -> set[str]:
    return {line.memory.body for line in compose(memories, Accesses(), NOW, budget)}


ROSA = memory(91, "- **Name:** Rosa Lind", "USER.md", type="identity", context="Rosa Lind › USER")
LAST = memory(92, "Ash is kept for soap.", "memory/2026-02-28.md", context="2026-02-28")
KNOWN = [memory(n, f"{text}.", "MEMORY.md") for n, text in enumerate(TOLD)]


@pytest.mark.parametrize(
    ("day", "text", "type_", "is_shown"),
    [
        ("2026-02-27", "Rosa called: **Nils Orr tests the gas pipe** in June.", "fact", True),
        ("2026-02-27", "Decided to order flour on Mondays.", "decision", True),
        ("2026-02-27", "Rosa called: Nils Orr tests the gas pipe in June.", "fact", False),
        ("2026-02-27", "Rosa wants the gas pipe tested by Nils Orr.", "fact", True),
        ("2026-02-27", "Nils Orr wants the gas pipe tested by Rosa.", "fact", False),
        ("2026-02-27", "**What Rosa said of it:** Nils Orr tests the pipe.", "fact", False),
        ("2026-02-01", "Rosa called: **Nils Orr tests the gas pipe** in June.", "fact", False),
    ],
)
def test_news_of_the_last_days_comes_before_other_facts(
    day: str, text: str, type_: str, is_shown: bool
) -> None:
    news = memory(90, text, f"memory/{day}.md", type=type_, context=day)
    assert (text in page(*KNOWN[1:], ROSA, LAST, news, budget=FEW)) == is_shown
    if day < "2026-02-14":
        assert text in page(*KNOWN[1:], ROSA, news, budget=FEW), "days count from the newest log"


def test_new_states_of_logs_fill_a_page_that_has_room() -> None:
    words = "anvil birch copper delta ember fjord gravel harbour island jetty".split()

    def shown(month: str) -> int:
        states = []
        for n, word in enumerate(words):
            file = f"memory/{month}-{n + 18}.md"
            states.append(
                memory(
                    90 + n, f"The {word} mill sells {word}wood in {word}town.", file, context=file
                )
            )
        return len(page(*KNOWN, LAST, *states, budget=30))

    assert shown("2026-02") == shown("2026-01") + MAX_STATES - 1, "LAST is a state itself"
