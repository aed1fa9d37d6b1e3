"""`search` and `fetch` as connector-type clients call them: records of id, title, text and url."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from memrepo.core.ids import slugify
from memrepo.faces.mcp import read_tools
from memrepo.faces.mcp.calls import ToolCall
from memrepo.faces.mcp.replies import Reply


def search(call: ToolCall) -> Reply:
    """Answer with ids and titles of what fits the words."""
    hits = read_tools.search(call).data["hits"]
    return _as_text(
        {
            "results": [
                {"id": hit["id"], "title": _title(hit), "url": _url(hit["id"])} for hit in hits
            ]
        }
    )


def fetch(call: ToolCall) -> Reply:
    """Answer with the text of one memory."""
    bounds = {**call.arguments, "max_tokens": 20000}
    found = read_tools.get(replace(call, arguments=bounds)).data
    return _as_text(
        {
            "id": found["id"],
            "title": _title(found),
            "text": found["text"],
            "url": _url(found["id"]),
            "metadata": {"trust": found["trust"], "commit": found["commit"]},
        }
    )


def _title(found: Mapping[str, Any]) -> str:
    """Return a title that is a slug: titles are shown outside of any fence."""
    return f"{found['type']} {slugify(found['text'].splitlines()[1])}"


def _url(id_: str) -> str:
    return f"memrepo://memory/{id_}"


def _as_text(data: dict[str, object]) -> Reply:
    # These clients read the text and expect the record in it.
    return Reply(text=json.dumps(data, ensure_ascii=False), data=data)
