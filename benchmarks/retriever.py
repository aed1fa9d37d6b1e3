"""A retriever for harnesses: JSON lines on standard input and output, answered by the Python API.

    {"op": "add", "id": ..., "text": ..., "speaker": ..., "caption": ..., "date": ...,
     "session": ..., "turn": ..., "kind": ...}                          no reply
    {"op": "commit"}                                                    {"ok": true}
    {"op": "search", "query": ..., "k": ...}                            {"ids": [...]}
    {"op": "quit"}                                                      no reply

Each document becomes a memory of a repository of its own, which is gone at the end.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from memrepo import Entry, OpenRepository, Source, open_repository
from memrepo.faces import cli

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The same in each run: ids hold the time, and ties go by path."""


def entry_of(document: Mapping[str, Any]) -> Entry:
    """Return the memory that a document becomes: who said it, on which line of what, and when."""
    line = int(document.get("turn") or 0) + 1
    return Entry(
        text="\n".join(filter(None, (document.get("text"), document.get("caption")))),
        subject=document.get("speaker") or "",
        source=Source(
            resource=f"sources/{document.get('kind')}-{document.get('session')}.md",
            lines=(line, line),
            captured=document.get("date") or "",
        ),
    )


class Retriever:
    """The documents of one harness in one repository."""

    def __init__(self, memory: OpenRepository) -> None:
        self._memory = memory
        self._waiting: list[Mapping[str, Any]] = []
        self._documents: dict[str, list[str]] = defaultdict(list)
        """Document ids by memory: of equal texts by one speaker there is one memory."""

    def add(self, document: Mapping[str, Any]) -> None:
        """Keep a document for the next commit; one without words can never be found."""
        if entry_of(document).text.strip():
            self._waiting.append(document)

    def commit(self) -> None:
        """Write the documents that wait, in one commit; one that may hold a secret is left out."""
        ids = self._memory.add_all([entry_of(d) for d in self._waiting], skip_secrets=True)
        for id_, document in zip(ids, self._waiting, strict=True):
            if id_:
                self._documents[id_].append(document["id"])
        self._waiting = []

    def search(self, query: str, count: int) -> list[str]:
        """Return at most so many document ids, best first."""
        hits = self._memory.search(query, count, no_touch=True)
        return [id_ for hit in hits for id_ in self._documents[hit.id]][:count]


def serve(lines: Iterable[str], out: TextIO, memory: OpenRepository) -> None:
    """Answer a harness, line by line, until it quits or its output ends."""
    retriever = Retriever(memory)
    for line in lines:
        said = json.loads(line)
        match said.pop("op"):
            case "add":
                retriever.add(said)
                continue
            case "commit":
                retriever.commit()
                reply: dict[str, Any] = {"ok": True}
            case "search":
                reply = {"ids": retriever.search(said["query"], int(said["k"]))}
            case "quit":
                return
            case other:
                raise ValueError(f"{other!r}: expected add, commit, search or quit")
        print(json.dumps(reply), file=out, flush=True)


def main() -> int:
    """Make a repository as `memrepo init` does and serve from it."""
    with tempfile.TemporaryDirectory(prefix="memrepo-retriever-") as folder:
        with redirect_stdout(io.StringIO()):
            code = cli.main(["-C", folder, "--quiet", "init", "repo", "--tz", "UTC"])
        if code:
            return code
        with open_repository(Path(folder) / "repo", clock=lambda: NOW) as memory:
            serve(sys.stdin, sys.stdout, memory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
