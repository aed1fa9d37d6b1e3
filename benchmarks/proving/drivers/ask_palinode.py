"""Asked through the function behind palinode's `/search`, in its lexical mode: no model is here."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from pathlib import Path


def main() -> None:
    """Read a corpus from one file, write the ids found for each question to the other."""
    asked = json.loads(Path(sys.argv[1]).read_bytes())
    folder = Path.cwd() / "store"
    notes = folder / "insights"
    notes.mkdir(parents=True)
    (folder / "palinode.config.yaml").write_text("search:\n  retrieval_mode: lexical\n")
    os.environ |= {"PALINODE_DIR": str(folder), "PALINODE_ALLOW_FRESH_DB": "1"}
    store = importlib.import_module("palinode.core.store")
    index = importlib.import_module("palinode.indexer.index_file")
    search = importlib.import_module("palinode.api.routers.search")
    store.init_db()
    for number, doc in enumerate(asked["docs"]):
        path = notes / f"n{number:05}.md"
        path.write_text(f"---\nid: insights-n{number:05}\ntype: Insight\n---\n\n{doc['line']}\n")
        index.index_file(str(path))
    found = []
    for question in asked["questions"]:
        hits = search.search_api(search.SearchRequest(query=question, limit=asked["depth"]))
        paths = [re.search(r"n(\d{5})\.md", hit["file_path"]) for hit in hits]
        found.append([asked["docs"][int(path[1])]["id"] for path in paths if path])
    Path(sys.argv[2]).write_text(json.dumps(found))


main()
