"""What nights make of what agents write: what is kept, what changes, what is forgotten."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import answer_of
from benchmarks.proving.finding import carried
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory

FIRST, SECOND, ASK = "2026-03-02T04:00:00Z", "2026-03-10T04:00:00Z", "2026-03-10T05:00:00Z"
CHANGES = Path(__file__).parents[1] / "tables" / "changes.jsonl"
FILLERS = (
    "The sourdough starter is fed every morning at 07:00.",
    "The spare key hangs behind the door.",
    "Library books are due every third Thursday.",
    "The bicycle pump is in the shed.",
    "Tax papers are in the grey box.",
)
_DAYS, _MANY = 400, 60


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# -- what is kept ----------------------------------------------------------------------------------


def distilled(workspaces: Path, units: Path, labels: Path) -> dict[str, Counter[str]]:
    """Run labelled workspaces, and count by workspace what became of each labelled line.

    WORKSPACES holds a folder a workspace; UNITS and LABELS a file `NAME.jsonl` for each: a unit has
    `id`, `file` and `lines`, a label `id`, `keep` (durable, dated or noise) and `type`.
    """
    found = {}
    for file in sorted(labels.glob("*.jsonl")):
        places = {unit["id"]: unit for unit in _rows(units / file.name)}
        with tempfile.TemporaryDirectory(prefix="memrepo-kept-") as folder:
            answer_of("init", folder, "--from", str(workspaces / file.stem), now=FIRST)
            answer_of("-C", folder, "run", now=FIRST)
            claims = claims_by_place(Path(folder))
        count: Counter[str] = Counter()
        for label in _rows(file):
            unit = places[label["id"]]
            first, last = unit["lines"]
            over = [
                memory
                for line in range(first, last + 1)
                for memory in claims.get((Layout().source(unit["file"]), line), ())
            ]
            count[label["keep"]] += 1
            count[f"kept {label['keep']}"] += bool(over)
            if over and label["keep"] == "durable":
                wanted = {label["type"], *label.get("ok_types", ())}
                count["typed"] += any(memory.type in wanted for memory in over)
        found[file.stem] = count
    return found


def claims_by_place(repo: Path) -> Mapping[tuple[str, int], list[Memory]]:
    """Return the active memories that are no notes by each source line that they rest on."""
    found = defaultdict(list)
    for path in sorted((repo / "memories").rglob("*.md")):
        memory, _ = codec.decode(path.relative_to(repo).as_posix(), path.read_bytes())
        if memory is not None and memory.status == "active" and not memory.is_note:
            for source in memory.sources:
                for line in range(source.lines[0], source.lines[1] + 1):
                    found[source.resource, line].append(memory)
    return found


def kept_figures(count: Counter[str]) -> dict[str, float]:
    """Return precision, recall and F1 of what is kept; a line of a day counts half."""
    good = count["kept durable"]
    kept = good + count["kept noise"] + count["kept dated"] / 2
    precision = good / kept if kept else 0.0
    recall = good / count["durable"] if count["durable"] else 0.0
    both = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both else 0.0,
        "noise": count["kept noise"] / max(1, count["noise"]),
        "type": count["typed"] / max(1, good),
    }


# -- what changes ----------------------------------------------------------------------------------


def changed(cases: Path = CHANGES) -> Counter[str]:
    """Play cases of two nights, an old statement and a new one, and count what a search says."""
    count: Counter[str] = Counter()
    for case in _rows(cases):
        hits = _two_nights(case)
        first = hits[0][0] if hits else ""
        current, stale = case["current"].lower(), case["stale"].lower()
        count[case["expect"]] += 1
        if case["expect"] == "replace":
            old = [
                standing
                for text, standing in hits
                if stale in text.lower() and not (current and current in text.lower())
            ]
            count["new first"] += not current or current in first.lower()
            count["old out"] += not old
            count["old marked"] += bool(old) and "resolved" not in old
        else:
            wanted = [case["old"], *([case["new"]] if case["expect"] == "both" else [])]
            texts = [_plain(text) for text, _ in hits]
            count["lost"] += any(not any(_plain(w) in t for t in texts) for w in wanted)
    return count


def _two_nights(case: Mapping[str, Any]) -> list[tuple[str, str]]:
    old, new = _bullet(case["old"]), _bullet(case["new"]) if case["new"] else ""
    with tempfile.TemporaryDirectory(prefix="memrepo-changed-") as folder:
        workspace, repo = Path(folder) / "agent", Path(folder) / "memory"
        _write_memory(workspace, [old])
        answer_of("init", str(repo), "--from", str(workspace), now=FIRST)
        answer_of("-C", str(repo), "run", now=FIRST)
        if case["where"] == "daily log":
            log = workspace / "memory" / "2026-03-09.md"
            log.parent.mkdir()
            log.write_text(f"# 2026-03-09\n\n{new}\n", encoding="utf-8")
        else:
            before = [] if case["where"] == "rewritten" else [old]
            _write_memory(workspace, [*before, *([new] if new else [])])
        answer_of("-C", str(repo), "run", now=SECOND)
        asked = case["question"] or f"{case['old']} {case['new']}"
        found = answer_of("-C", str(repo), "search", "--no-touch", "-k10", "--", asked, now=ASK)
    return [(hit["text"], hit.get("standing") or "resolved") for hit in found["hits"]]


def _bullet(text: str) -> str:
    return text if text.startswith("- ") else f"- {text}"


def _plain(text: str) -> str:
    return re.sub(r"[*_`]", "", text.removeprefix("- ")).rstrip(".").lower()


def _write_memory(workspace: Path, lines: Sequence[str]) -> None:
    workspace.mkdir(exist_ok=True)
    rows = [_bullet(line) for line in (*FILLERS[:3], *lines, *FILLERS[3:])]
    (workspace / "MEMORY.md").write_text("\n".join(["# Memory", "", *rows, ""]), encoding="utf-8")


# -- what is forgotten -----------------------------------------------------------------------------


def forgotten(days: int = _DAYS) -> Counter[str]:
    """Let claims stand for more than a year, reject some, and count what is there then."""
    texts = [doc.text for doc in carried()[0].docs if doc.text.isascii()][:_MANY]
    start = datetime.fromisoformat(FIRST)
    with tempfile.TemporaryDirectory(prefix="memrepo-forgotten-") as folder:
        workspace, repo = Path(folder) / "agent", Path(folder) / "memory"
        _write_memory(workspace, texts)
        answer_of("init", str(repo), "--from", str(workspace), now=FIRST)
        answer_of("-C", str(repo), "run", now=FIRST)
        known = _ids(repo)
        rejected = set(sorted(known)[::5])
        for id_ in sorted(rejected):
            answer_of("-C", str(repo), "reject", id_, "--reason", "wrong", now=SECOND)
        for after in range(30, days + 1, 30):
            when = start + timedelta(days=after)
            _write_memory(workspace, [*texts, f"Form {after} was signed on {when:%Y-%m-%d}."])
            answer_of("-C", str(repo), "run", now=f"{when:%FT%TZ}")
        left = _ids(repo)
    standing = known - rejected
    return Counter(
        {
            "standing": len(standing),
            "left recall": len(standing - left),
            "rejected": len(rejected),
            "came back": len(left & rejected),
        }
    )


def _ids(repo: Path) -> set[str]:
    return {memory.id for found in claims_by_place(repo).values() for memory in found}
