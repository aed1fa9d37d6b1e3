"""Places and scores of many questions over one small memory: no signal changes unnoticed.

A change of a weight or of a rule changes `tests/golden/ranking.json`. Look at what moved, and write
it anew with `WRITE_GOLDEN=1 python -m pytest tests/store/test_ranking_golden.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from test_index import search, tree_of

from memrepo.core import codec
from memrepo.core.memory import Importance, Memory, Source
from memrepo.store.corpus import Filter

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "ranking.json"
FIRST = 6

# source, day, speaker or subject, text; the lines of a source follow one another.
SAID = (
    ("talk/1", "2026-03-02", "Ada", "I moved the greenhouse to the south wall last Sunday."),
    ("talk/1", "2026-03-02", "Ben", "Why there? The old corner had shade in July."),
    ("talk/1", "2026-03-02", "Ada", "The tomatoes need the light, and the pump is close by."),
    ("talk/1", "2026-03-02", "Ben", "What do you feed them with?"),
    ("talk/1", "2026-03-02", "Ada", "Nettle brew, twice a week, and nothing on Sundays."),
    ("talk/2", "2026-03-20", "Ada", "The pump broke again, the seal is gone."),
    ("talk/2", "2026-03-20", "Ben", "I ordered a seal in Ghent; it comes on 27 March."),
    ("talk/2", "2026-03-20", "Ada", "Then we water by hand until Friday."),
    ("talk/3", "2026-04-11", "user", "I am allergic to penicillin and to cats. What about a dog?"),
    (
        "talk/3",
        "2026-04-11",
        "assistant",
        """Of course! A dog may suit you:
- **Poodles** shed little.
- **Terriers** are lively.
Allergic people often cope with a poodle, yet ask a doctor before a dog comes.""",
    ),
    ("talk/3", "2026-04-11", "user", "My sister Clara has a terrier called Knut."),
    ("notes/host", "", "Backup", "The nightly backup of db-prod-7 runs at 02:30 UTC."),
    ("notes/host", "", "Backup", "Backups older than 90 days are deleted."),
    ("notes/host", "", "Printer", "The printer's address is 10.0.4.17, port 9100."),
    ("notes/host", "", "Runbook", "Error E-4711 means that the disk quota is full."),
    ("notes/days", "2026-02-14", "", "Valentine dinner at Lucca's, table for four at 19:00."),
    ("notes/days", "2026-12-24", "", "Christmas Eve with Clara in Antwerp."),
    ("notes/days", "2025-08-18", "", "Sailed to Texel for two weeks with Ben."),
    ("notes/days", "2026-01-05", "", "Signed the lease for the workshop on Canal Street."),
    ("notes/work", "2026-03-03", "Budget", "The travel budget for 2026 is 4,800 euros."),
    ("notes/work", "2026-03-09", "Budget", "The travel budget was raised to 5,200 euros."),
    ("notes/work", "2026-03-09", "Deploys", "Deploys need two reviewers since the outage."),
    ("notes/sprachen", "", "Wartung", "Die Wartung der Heizungsanlage übernimmt Frau Köhler."),
    ("notes/sprachen", "", "Заметки", "Ключи от мастерской лежат у Анны Петровой."),
    ("notes/sprachen", "", "予定", "毎週水曜日に歯医者の予約がある。"),
    ("notes/sprachen", "", "Notas", "El coche rojo se vendió a la vecina en mayo."),
)
QUESTIONS = (
    "pump",
    "Why did Ada move the greenhouse?",
    "What does Ada feed the tomatoes with?",
    "When does the seal arrive?",
    "What did Ben order?",
    "what am I allergic to",
    "which dog did you suggest for allergic people?",
    "What is the name of Clara's dog?",
    "who has a terrier",
    "db-prod-7",
    "E-4711",
    "printer port",
    "how long are backups kept",
    "What happened in March 2026?",
    "What did we plan on Christmas Eve?",
    "Where did Ben sail in August 2025?",
    "what happened in the last two weeks of March 2026",
    "between January and February 2026",
    "How much is the travel budget?",
    "since when do deploys need two reviewers",
    "Heizung Wartung",
    "у кого ключи от мастерской",
    "歯医者の予約",
    "coches vendidos",
    "greenhuose tomatos",
    "Canal Street lease",
    "Ada",
    "Did Clara break the pump?",
    "vegan cheese",
)


def files() -> dict[str, bytes]:
    """Return the memory, a file for each statement."""
    found = {}
    lines: dict[str, int] = {}
    for number, (source, day, subject, body) in enumerate(SAID, 1):
        lines[source] = at = lines.get(source, 0) + 1
        place = Source(
            resource=f"sources/{source}.md",
            blob="",
            lines=(at, at),
            text_hash=f"th-{number:016x}",
            kind="direct",
            captured=day,
        )
        fields = {
            "id": f"mem-{number:016x}",
            "type": "fact",
            "sources": (place,),
            "importance": Importance(score=(number % 5) / 4, level="normal"),
            **({"subject": subject} if subject else {}),
        }
        path = f"memories/knowledge/2026-01/m-{number:03}.md"
        found[path] = codec.encode(Memory(path=path, fields=fields, body=body))
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[float]]]:
    """Return number, score and share held of the first hits of each question."""
    folder, tree = tmp_path_factory.mktemp("index"), tree_of(files())
    only = Filter(limit=FIRST)
    return {
        question: [
            [int(hit.id.removeprefix("mem-"), 16), round(hit.score, 3), round(hit.held, 3)]
            for hit in search(folder, tree, [question], only)
        ]
        for question in QUESTIONS
    }


def test_the_places_and_scores_are_those_on_record(found: dict[str, list[list[float]]]) -> None:
    if os.environ.get("WRITE_GOLDEN"):
        rows = [f"{json.dumps(q, ensure_ascii=False)}: {json.dumps(r)}" for q, r in found.items()]
        GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))
    moved = {q: (recorded.get(q), hits) for q, hits in found.items() if recorded.get(q) != hits}
    assert moved == {}


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What does Ada feed the tomatoes with?", 5),
        ("When does the seal arrive?", 7),
        ("what am I allergic to", 9),
        ("which dog did you suggest for allergic people?", 10),
        ("who has a terrier", 11),
        ("db-prod-7", 12),
        ("E-4711", 15),
        ("how long are backups kept", 13),
        ("Where did Ben sail in August 2025?", 18),
        ("у кого ключи от мастерской", 24),
        ("歯医者の予約", 25),
        ("Canal Street lease", 19),
    ],
)
def test_a_question_is_answered_in_the_first_three(
    found: dict[str, list[list[float]]], question: str, number: int
) -> None:
    assert number in [hit[0] for hit in found[question][:3]]
