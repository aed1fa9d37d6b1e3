"""mem0 as its package sets itself up: adding a text as it is, then searching."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Read a corpus from one file, write the ids found for each question to the other."""
    asked = json.loads(Path(sys.argv[1]).read_bytes())
    os.environ |= {"MEM0_DIR": str(Path.cwd() / "mem0"), "MEM0_TELEMETRY": "False"}
    memory = importlib.import_module("mem0").Memory()
    for doc in asked["docs"]:
        memory.add(doc["line"], user_id="u", infer=False, metadata={"doc": doc["id"]})
    found = []
    for question in asked["questions"]:
        hits = memory.search(question, filters={"user_id": "u"}, top_k=asked["depth"])["results"]
        found.append([hit["metadata"]["doc"] for hit in hits])
    Path(sys.argv[2]).write_text(json.dumps(found))


main()
