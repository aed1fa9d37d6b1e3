"""The retriever for harnesses: its protocol, and every document id that an answer stands for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def asked(*requests: dict[str, object]) -> list[dict[str, object]]:
    """Send requests to a retriever of its own and return its replies."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.retriever"],
        cwd=ROOT,
        text=True,
        check=True,
        input="".join(json.dumps(one) + "\n" for one in requests),
        capture_output=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def turn(number: int, text: str, speaker: str, caption: str = "") -> dict[str, object]:
    return {
        "op": "add",
        "id": f"c/{number}",
        "text": text,
        "speaker": speaker,
        "caption": caption,
        "date": "2023-05-08",
        "session": 1,
        "turn": number,
        "kind": "turn",
    }


def test_documents_are_found_by_their_ids_and_equal_ones_together() -> None:
    replies = asked(
        turn(0, "Hello Ben!", "Ana"),
        turn(1, "Look!", "Ben", "a photo of a red kite"),
        turn(2, "Thanks, lovely.", "Ana"),
        turn(3, "Thanks, lovely.", "Ben"),
        turn(4, "Thanks, lovely.", "Ana"),
        turn(5, "", "Ana"),
        {"op": "commit"},
        {"op": "search", "query": "red kite", "k": 5},
        {"op": "search", "query": "lovely", "k": 5},
        {"op": "search", "query": "lovely", "k": 1},
        {"op": "search", "query": "submarine", "k": 5},
        {"op": "quit"},
    )
    assert replies[0] == {"ok": True}
    assert replies[1] == {"ids": ["c/1"]}
    assert sorted(replies[2]["ids"]) == ["c/2", "c/3", "c/4"]  # type: ignore[call-overload]
    assert len(replies[3]["ids"]) == 1  # type: ignore[arg-type]
    assert replies[4] == {"ids": []}
    assert len(replies) == 5
