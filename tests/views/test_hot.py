"""What the lines of `MEMORY.md` say, and under which heading they stand."""

from datetime import UTC, datetime

import pytest

from memrepo.core.memory import Hot, Memory, Source
from memrepo.core.state import Files, State
from memrepo.policies.rules import HotRules
from memrepo.views.hot import condensed, hot_page

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def memory(body: str, number: int = 1, **fields: object) -> Memory:
    """Return a memory that stands on the page."""
    id_ = f"mem-{number:016x}"
    base = {"id": id_, "type": "fact", "created": NOW, "hot": Hot(since=NOW, reason="new layer")}
    return Memory(path=f"memories/knowledge/m-{id_[-6:]}.md", fields={**base, **fields}, body=body)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        pytest.param("Boats are red. They float.", "Boats are red. They float.", id="sentences"),
        pytest.param(
            "Harbour – Boats\n\n- **Ada**: red\n- Ben: blue",
            "Harbour – Boats: Ada: red · Ben: blue",
            id="a-list",
        ),
        pytest.param(
            f"Boats\n\n- {'red ' * 20}\n- {'blue ' * 30}",
            f"Boats: {'red ' * 19}red · {'blue ' * 27}blue…",
            id="a-long-one-is-cut-between-words",
        ),
        pytest.param("Use `a` ↑2026←x", "Use \\`a\\` ^2026\\<-x", id="no-markup-no-tag-of-its-own"),
    ],
)
def test_a_memory_is_condensed_to_one_line_that_keeps_its_parts_apart(body: str, line: str) -> None:
    assert condensed(memory(body)) == line


def test_what_a_profile_says_stands_under_whom_it_is_about_in_the_order_of_the_file() -> None:
    def said(number: int, body: str, file: str, line: int) -> Memory:
        return memory(
            body, number, sources=(Source(resource=f"sources/{file}", lines=(line, line)),)
        )

    found = [
        said(1, "Lives in Kiel.", "USER.md", 5),
        said(2, "Ada is the person.", "USER.md", 2),
        said(3, "The agent is Ben.", "IDENTITY.md", 1),
        said(4, "Boats are red.", "MEMORY.md", 1),
    ]
    page = hot_page(State(memories={m.id: m for m in found}, files=Files({}, {})), HotRules())
    assert page is not None
    lines = [line.partition(" ↑")[0] for line in page.decode().splitlines()]
    assert [line for line in lines if line.startswith(("- ", "## "))] == [
        "## Identity",
        "- The agent is Ben.",
        "## User",
        "- Ada is the person.",
        "- Lives in Kiel.",
        "## Knowledge",
        "- Boats are red.",
    ]
