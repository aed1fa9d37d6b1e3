"""The page of the graph: it holds what it needs, and memory text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re

from memrepo.core.memory import Link, Memory
from memrepo.policies.links import Graph
from memrepo.views.html import graph_page

EVIL = "</script><script>alert(1)</script><b>\u202e&amp; \u2028"


def memory(number: int, body: str, *targets: int) -> Memory:
    links = tuple(
        Link(target=f"mem-{target:016x}", type="related", strength=0.5) for target in targets
    )
    return Memory(
        path=f"memories/knowledge/2026-01/x-{number:06x}.md",
        fields={"id": f"mem-{number:016x}", "type": "fact", "links": links},
        body=body,
    )


def data_of(page: str) -> dict[str, object]:
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found)


def test_memory_text_is_data_wherever_it_stands() -> None:
    page = graph_page(Graph([memory(1, EVIL, 2), memory(2, "Plain.")]), EVIL)
    assert page.count("<script") == 2
    assert "<b>" not in page.replace("<b>{", "")
    nodes = data_of(page)["nodes"]
    assert nodes[0]["text"] == "</script><script>alert(1)</script><b>&amp; \u2028"  # type: ignore[index]


def test_the_policy_names_the_hashes_of_sheet_and_script_and_nothing_is_fetched() -> None:
    page = graph_page(Graph([memory(1, "One.", 2), memory(2, "Two.")]), "notes")
    for tag, text in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (inline,) = re.findall(text, page, re.S)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|\bsrc=|@import|url\(|Math\.random", page)


def test_only_linked_memories_are_drawn_and_equal_graphs_give_equal_pages() -> None:
    memories = [memory(1, "One.", 2), memory(2, "Two."), memory(3, "Alone.")]
    page = graph_page(Graph(memories), "notes")
    data = data_of(page)
    assert [node["label"] for node in data["nodes"]] == ["One.", "Two."]  # type: ignore[attr-defined]
    assert data["edges"] == [[0, 1, "related", 0.5, False]]
    assert "1 link between 2 of 3 memories" in page
    assert page == graph_page(Graph(reversed(memories)), "notes")
    assert "0 links between 0 of 1 memory" in graph_page(Graph(memories[2:]), "notes")
