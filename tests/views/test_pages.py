"""Which files views may write and delete."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.changes import Delete, Write
from memrepo.core.memory import Memory
from memrepo.core.state import Files, State
from memrepo.views import pages


def state(tags: list[str], files: dict[str, bytes] | None = None) -> State:
    memories = {
        f"mem-{n:016x}": Memory(
            path=f"memories/knowledge/m-{n:06x}.md",
            body=f"fact {n}",
            fields={"id": f"mem-{n:016x}", "type": "fact", "home": "LTMEMORY.md", "tags": (tag,)},
        )
        for n, tag in enumerate(tags)
    }
    return State(files=Files(files or {}, {}), memories=memories)


def written(of: State) -> dict[str, bytes]:
    changes = pages.render_views(of)
    found = [(c.path, c.data) for c in changes if isinstance(c, Write)]
    assert len({path for path, _ in found}) == len(found)
    return dict(found)


def test_only_pages_that_were_written_here_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    one = written(state(["a"]))
    with monkeypatch.context() as patch:
        patch.setattr(pages, "LIMIT", 2)
        many = written(state(["a"] * 3))
    mine = b"# My thoughts\n\non long-term memory\n"
    foreign = {"views/LTMEMORY-thoughts.md": mine, "views/other.md": one["views/LTMEMORY.md"]}
    stale = {"views/LTMEMORY-old.md": many["views/LTMEMORY.md"]}
    stale |= {path: data for path, data in many.items() if "-a" in path}
    changes = pages.render_views(state(["a"], {**one, **foreign, **stale}))
    assert set(changes) == {Delete(path=path) for path in stale}


def claim(number: int, body: str, **fields: object) -> Memory:
    id_ = f"mem-{number:06x}0000000000"
    given = {"id": id_, "type": "fact", "home": "LTMEMORY.md", **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", body=body, fields=given)


def page_of(*claims: Memory) -> str:
    found = written(State(files=Files({}, {}), memories={m.id: m for m in claims}))
    return found["views/LTMEMORY.md"].decode()


def test_what_shares_a_subject_stands_under_it_and_says_it_once() -> None:
    text = page_of(
        claim(1, "Atlas: runs Python", subject="Atlas", lead="Atlas"),
        claim(2, "Atlas: runs Postgres", subject="Atlas", lead="Atlas"),
        claim(3, "Rui: likes tea", subject="Rui", lead="Rui"),
        claim(4, "The Atlas team meets on Monday", subject="Atlas"),
        claim(5, "nobody in particular"),
    )
    facts = text.partition("## Facts\n")[2]
    assert facts == (
        "\n- nobody in particular `000005`\n- Rui: likes tea `000003`\n"
        "\n### Atlas\n"
        "\n- runs Python `000001`\n- runs Postgres `000002`\n"
        "- The Atlas team meets on Monday `000004`\n"
    )


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("2026 was good", "2026 was good"),
        ("2. second", "2\\. second"),
        ("# 7 is the room", "\\# 7 is the room"),
        ("#7 is the room", "#7 is the room"),
        ("- a dash", "\\- a dash"),
        ("*never* on Monday", "*never* on Monday"),
        ("> 80 % full", "\\> 80 % full"),
        ("[x]: not a link", "\\[x]: not a link"),
        ("***", "\\***"),
        ("a <b>bold</b> claim", "a \\<b>bold\\</b> claim"),
    ],
)
def test_a_text_begins_nothing_on_its_line(body: str, line: str) -> None:
    assert f"\n- {line} `000001`\n" in page_of(claim(1, body))


def day_of(number: int) -> Memory:
    """Return a claim whose id is a hash, as ids are, in the order of its number."""
    digits = sha256(str(number).encode()).hexdigest()[:16]
    fields = {"id": f"mem-{digits}", "type": "fact", "home": "LTMEMORY.md"}
    path = f"memories/knowledge/m-{number:06}-{digits[:6]}.md"
    return Memory(path=path, body=f"fact {number}", fields=fields)


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=80), st.integers(2, 24))
def test_parts_are_whole_in_order_and_no_longer_than_a_page(numbers: list[int], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "LIMIT", limit)
        claims = [day_of(n) for n in numbers]
        parts = [*pages._cut_up(claims)]
    assert [claim for part in parts for claim in part] == claims
    assert all(len(part) <= limit for part in parts)
    assert all(len(part) >= limit // 2 for part in parts[:-1])
