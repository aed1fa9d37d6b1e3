"""basic-memory's full-text search, by its own tool `search_notes`: no model is here."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any


async def answers(asked: dict[str, Any]) -> list[list[str]]:
    """Return the ids found for each question."""
    tool = importlib.import_module("basic_memory.mcp.tools.search").search_notes
    found = []
    for question in asked["questions"]:
        said = await tool(
            query=question,
            search_type="text",
            page_size=asked["depth"],
            output_format="json",
            search_all_projects=False,
        )
        rows = said.get("results", []) if isinstance(said, dict) else []
        paths = [re.search(r"n(\d{5})", row.get("file_path") or row["permalink"]) for row in rows]
        numbers = dict.fromkeys(int(path[1]) for path in paths if path)
        found.append([asked["docs"][number]["id"] for number in numbers])
    return found


def main() -> None:
    """Read a corpus from one file, write the ids found for each question to the other."""
    asked = json.loads(Path(sys.argv[1]).read_bytes())
    notes = Path.cwd() / "notes"
    notes.mkdir()
    os.environ |= {
        "BASIC_MEMORY_HOME": str(notes),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        "BASIC_MEMORY_LOG_LEVEL": "ERROR",
        "BASIC_MEMORY_NO_PROMOS": "1",
    }
    for number, doc in enumerate(asked["docs"]):
        text = f"---\ntitle: n{number:05}\ntype: note\n---\n\n{doc['line']}\n"
        (notes / f"n{number:05}.md").write_text(text, encoding="utf-8")
    program = Path(sys.executable).with_name("basic-memory")
    subprocess.run([program, "reindex", "--full", "--search"], check=True, capture_output=True)
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(answers(asked))))


main()
