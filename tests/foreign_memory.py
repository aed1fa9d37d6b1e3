"""Other programs' memory as they document it, small, in our own words; `SAID` is what each says."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

MEM0: dict[str, bytes] = {
    "mem0.json": json.dumps(
        {
            "results": [
                {
                    "id": "8f0c2f8e-1f7a-4f5e-9a3f-0c6f3a1b2c3d",
                    "memory": "Prefers window seats on long train journeys",
                    "hash": "a1b2c3",
                    "user_id": "vera",
                    "categories": ["travel"],
                    "metadata": {"category": "seats"},
                    "created_at": "2026-01-05T08:30:00.123456-08:00",
                    "updated_at": "2026-01-06T08:30:00-08:00",
                },
                {
                    "id": "0d3b7f80-4c11-4e0e-8a55-8d1d8c7f2f10",
                    "memory": "Is allergic to hazelnuts and carries a pen",
                    "hash": "d4e5f6",
                    "agent_id": "planner",
                    "metadata": None,
                    "created_at": "2026-01-07T09:00:00Z",
                    "updated_at": None,
                    "expiration_date": "2030-12-31",
                },
                {"id": "5a5a", "memory": "", "created_at": "2026-01-07T09:00:00Z"},
                {"id": "6b6b", "memory": "Keeps bees behind the barn now", "created_at": "soon"},
            ],
            "relations": [{"source": "vera", "relationship": "keeps", "target": "bees"}],
        },
        indent=2,
    ).encode()
}

CLAUDE_CODE: dict[str, bytes] = {
    "MEMORY.md": b"""\
# Memory index

- [Real database in tests](feedback_real_database.md) - no mocks in integration tests
- [Release freeze](release-freeze.md) - until the branch is cut
- The staging host is rebooted every Sunday night.
""",
    "feedback_real_database.md": b"""\
---
name: real-database-in-tests
description: "Integration tests use a real database: mocks hid a broken migration"
type: feedback
originSessionId: 2f9d4c1e-0000-4000-8000-000000000000
---

Integration tests talk to a real database.

**Why:** a mock hid a broken migration. See [[release-freeze]].
""",
    "release-freeze.md": b"""\
---
name: release-freeze
description: Merges are frozen from 2026-03-05 for the mobile release
metadata:
  node_type: memory
  type: project
  modified: 2026-03-01T10:15:00.000Z
---

From 2026-03-05 nothing is merged that the mobile release does not need.
""",
    "debugging.md": b"# Debugging\n\n- Set `TRACE=1` before the worker starts, never after.\n",
    "broken.md": b"---\nname: broken\nname: twice\n---\n\nNobody reads this.\n",
}


OBSIDIAN: dict[str, bytes] = {
    "Projects/Greenhouse.md": b"""\
---
tags:
  - building
aliases: [Glasshouse]
date: 2026-01-20
---
The greenhouse stands on the [[Plot map|plot's]] south side. #glass/double

```
#not-a-tag
```
""",
    "Plot map.md": b"North is up; see [greenhouse](Projects/Greenhouse.md).\n",
    "Daily/2026-02-03.md": b"The new pump arrived and was tried at once.\n",
    ".obsidian/app.json": b"{}",
    ".trash/Old.md": b"Thrown away.\n",
}

OKF: dict[str, bytes] = {
    "index.md": b'---\nokf_version: "0.2"\n---\n\n# Tables\n',
    "tables/orders.md": b"""\
---
type: BigQuery Table
title: Orders
description: One row per completed order.
resource: https://console.example.org/orders
tags: [sales]
timestamp: 2026-01-28T14:30:00Z
---

Joined with [customers](customers.md) on `customer_id`.
""",
    "tables/customers.md": b"---\ntype: fact\ntitle: Customers\n---\n\nOne row per customer.\n",
    "tables/nothing.md": b"---\ntitle: No type\n---\n\nThis is no concept.\n",
}

OPENCLAW: dict[str, bytes] = {
    "MEMORY.md": b"""\
# Long-term memory

- Vera waters the beds every third day.

## Promoted From Short-Term Memory (2026-02-10)

<!-- openclaw-memory-promotion:memory:memory/2026-02-04.md:5:6 -->
- The seed order goes to Holt each January. [score=0.856 recalls=4 avg=0.620 \
source=memory/2026-02-04.md:5-6]
""",
    "memory/2026-02-04.md": b"""\
# 2026-02-04

## 09:10 Orders

- The seed order goes to Holt each January.
- Holt confirmed it by phone.

## Light Sleep

<!-- openclaw:dreaming:light:start -->
- Candidate: The seed order goes to Holt.
<!-- openclaw:dreaming:light:end -->
""",
    "memory/tools.md": b"# Tools\n\n- The rotary hoe is stored with an empty tank.\n",
    "memory/dreaming/light/2026-02-04.md": b"# Light sleep\n\n- staged 3 candidates\n",
    "DREAMS.md": b"""\
# Dream Diary

<!-- openclaw:dreaming:diary:start -->
---

*February 5, 2026, 3:00 AM*

Seeds rained on the shed until Holt picked up the telephone.

---

*February 6, 2026, 3:00 AM*

A hoe, asleep.

<!-- openclaw:dreaming:diary:end -->
""",
    "memory/.dreams/short-term-recall.json": json.dumps(
        {
            "version": 1,
            "updatedAt": "2026-02-10T03:00:00.000Z",
            "entries": {
                "memory:memory/tools.md:3:3": {
                    "path": "memory/tools.md",
                    "startLine": 3,
                    "endLine": 3,
                    "source": "memory",
                    "snippet": "The rotary hoe is stored with an empty tank.",
                    "recallCount": 3,
                    "conceptTags": ["hoe", "storage"],
                },
                "memory:memory/tools.md:9:9": {
                    "path": "memory/tools.md",
                    "startLine": 9,
                    "endLine": 9,
                    "recallCount": 2,
                    "snippet": "Something that moved away.",
                    "conceptTags": ["gone"],
                },
            },
        }
    ).encode(),
    "AGENTS.md": b"Rules, no memory.\n",
}

MEMORY_FS: dict[str, bytes] = {
    "memory_fs/hot/2026-02-28-pump.md": b"The pump was fitted and ran for an hour.\n",
    "memory_fs/warm/my-checkpoint.md": b"We agreed to repaint the gate in May, in green.\n",
    "memory_fs/gist/my-checkpoint.md": "# The gate\n标签: gate, paint\nRepaint in May.\n".encode(),
    "memory_fs/forgotten/old-talk.md": b"Somebody asked about the neighbour's fence.\n",
    "memory_fs/promote_report.md": b"# Report\n",
    "refcount.json": json.dumps(
        {
            "warm/my-checkpoint.md": {
                "total": 5,
                "7d": 3,
                "timestamps": [1769900000, 1769990000],
                "user_marked": True,
                "summarized": True,
                "created": 1769800000,
                "promoted": True,
            },
            "forgotten/old-talk.md": {"total": 0, "created": 1767200000},
        }
    ).encode(),
}

LAYERED: dict[str, bytes] = {
    "MEMORY.md": """\
# Memory

## 📋 Decisions (Hot Cache)
- Two-tier memory since April ↑2026-02-22(3 sessions)←memory/decisions.md[pin]
→ Full version: `memory/decisions.md`

## User
- Lives in the house by the mill ↑2026-02-20(user request)←memory/user.md
""".encode(),
    "memory/decisions.md": b"""\
# Decisions

- 2026-02-21: The two-tier memory is used since April, hot cache first
- 2026-02-25: Raised beds get built from larch only
""",
    "memory/user.md": b"# User\n\n- Prefers to be called by the first name.\n",
    "memory/2026-02-25.md": b"# 2026-02-25\n\nLarch was ordered at the sawmill.\n",
    "memory/archive/2025.md": b"# 2025\n\n- The old shed was torn down in autumn.\n",
    "memory/hygiene.json": b'{"L1accessLog": {}, "accessLog": {}}',
}

REMNIC: dict[str, bytes] = {
    "facts/2026-02-01/fact-1769900000000-ab12.md": b"""\
---
id: fact-1769900000000-ab12
category: fact
created: 2026-02-01T10:00:00.000Z
updated: 2026-02-02T10:00:00.000Z
source: extraction
confidence: 0.9
confidenceTier: implied
tags: ["garden", "water"]
entityRef: tool-pump
status: superseded
supersededBy: fact-1769990000000-cd34
importanceScore: 0.72
importanceLevel: high
---

The pump runs in the morning only.
""",
    "facts/2026-02-02/fact-1769990000000-cd34.md": b"""\
---
id: fact-1769990000000-cd34
category: decision
created: 2026-02-02T10:00:00.000Z
updated: 2026-02-02T10:00:00.000Z
source: extraction
confidence: 7
tags: []
links:
  - targetId: correction-1769990000001-ef56
    linkType: supports
    strength: 0.8
---

The pump runs in the evening from now on.
""",
    "corrections/correction-1769990000001-ef56.md": b"""\
---
id: correction-1769990000001-ef56
category: correction
created: 2026-02-02T11:00:00.000Z
updated: 2026-02-02T11:00:00.000Z
tags: []
status: superseded
supersededBy: pending-new
---

Not the morning: the evening is when the well is full.
""",
    "facts/2026-02-03/fact-1-chunk-0.md": b"---\nid: fact-1-chunk-0\nparentId: f\n---\n\nPart.\n",
    "facts/2026-02-03/fact-2.md": b"---\nid: fact-2\nstatus: pending_review\n---\n\nUnsure.\n",
    "entities/tool-pump.md": b"# Pump\n\n## Facts\n\n- Bought in 2019 from the sawmill.\n",
    "profile.md": b"# Profile\n\n- Vera keeps a garden of two hectares.\n",
}

HYBRID: dict[str, bytes] = {
    "MEMORY.md": b"# Long-Term Memory Index\n\n- [[memory/preference/x.md]] - index only\n",
    "manifest.json": b'{"version": "2026.4.273", "factsExported": 2}',
    "memory/preference/tea/Vera-drinks-mint-tea-1a2b3c4d.md": (
        b"Vera's favourite drink is mint tea.\n\nVera drinks mint tea after lunch"
    ),
    "memory/technical/The-well-is-twelve-9f8e7d6c.md": b"The well is twelve metres deep.",
    "memory/procedures/start-the-pump-0a1b2c3d.md": b"""\
# Procedure: start the pump

Type: positive
Confidence: 0.8

## Steps

[{"tool": "valve"}]
""",
}


def claim(digit: str, text: str, **more: object) -> dict[str, object]:
    """Return a claim as memory-purifier publishes it."""
    return {
        "id": f"cl-{digit * 16}",
        "type": "fact",
        "status": "resolved",
        "text": text,
        "subject": f"Bed {digit}",
        "predicate": "",
        "object": None,
        "primaryHome": "LTMEMORY.md",
        "secondaryTags": ["garden"],
        "provenance": [
            {
                "source": "MEMORY.md",
                "lineSpan": [3, 3],
                "type": "direct",
                "capturedAt": "2026-01-05T08:30:00Z",
            }
        ],
        "contradictions": [],
        "supersedes": [],
        "supersededBy": [],
        "scores": {"confidence": 0.75},
        "rationale": "durable",
        "updatedAt_utc": "2026-02-01T09:00:00.123456Z",
        **more,
    }


ARTIFACTS = {
    "runtime/purified-claims.jsonl": "".join(
        json.dumps(one) + "\n"
        for one in (
            claim("1", "Bed 1 of the garden holds red roses.", supersedes=["cl-" + "2" * 16]),
            claim("2", "Bed 1 of the garden holds tulips.", status="superseded"),
            claim(
                "3",
                "Bed 3 is watered every second day.",
                status="contested",
                contradictions=[{"competingClaimId": "cl-" + "4" * 16, "relation": "contested"}],
            ),
            claim("4", "Bed 3 is watered every fifth day.", status="contested"),
        )
    ).encode(),
}


def _spoken(id_: str, parent: str, role: str, text: str, to: str = "all") -> dict[str, object]:
    author, content = {"role": role}, {"content_type": "text", "parts": [text]}
    message = {"id": id_, "author": author, "recipient": to, "content": content}
    return {"id": id_, "parent": parent, "message": message, "children": []}


CHATGPT: dict[str, bytes] = {
    "conversations.json": json.dumps(
        [
            {
                "id": "c-1",
                "title": "Repotting",
                "create_time": 1767600000.5,
                "update_time": 1767603600.0,
                "current_node": "e",
                "mapping": {
                    "a": {"id": "a", "parent": None, "message": None},
                    "b": _spoken("b", "a", "user", "When do I repot the lemon tree?"),
                    "x": _spoken("x", "a", "user", "A question that was taken back."),
                    "c": _spoken("c", "b", "assistant", "In early spring."),
                    "d": _spoken("d", "c", "assistant", "Keeps a lemon tree indoors.", "bio"),
                    "e": _spoken("e", "d", "user", "And which soil?"),
                },
            }
        ]
    ).encode(),
}

CLAUDE: dict[str, bytes] = {
    "conversations.json": json.dumps(
        [
            {
                "uuid": "u-1",
                "name": "Ferry times",
                "created_at": "2026-01-05T08:00:00.000Z",
                "updated_at": "2026-01-05T09:00:00.000Z",
                "chat_messages": [
                    {"sender": "human", "text": "Which ferry leaves on Sundays?"},
                    {"sender": "assistant", "text": "The one at nine."},
                ],
            },
            {
                "uuid": "u-2",
                "name": "",
                "created_at": "2026-01-06T08:00:00.000Z",
                "updated_at": "2026-01-06T09:00:00.000Z",
                "chat_messages": [
                    {
                        "sender": "human",
                        "text": "",
                        "content": [{"type": "text", "text": "Plan the week in Cebu."}],
                    },
                ],
            },
        ]
    ).encode(),
}

MCP_MEMORY: dict[str, bytes] = {
    "memory.json": "".join(
        json.dumps(one) + "\n"
        for one in (
            {
                "type": "entity",
                "name": "Ines",
                "entityType": "person",
                "observations": ["Plays the oboe", "Lives next to the mill"],
            },
            {"type": "relation", "from": "Ines", "to": "Harbour Choir", "relationType": "sings_in"},
        )
    ).encode(),
}


def _database() -> bytes:
    """Return a database of claude-mem with an observation of each kind and a summary."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project"
            " TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,"
            " concepts TEXT, created_at TEXT, created_at_epoch INTEGER);"
            "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT,"
            " learned TEXT, completed TEXT, next_steps TEXT, created_at TEXT,"
            " created_at_epoch INTEGER);"
        )
        rows = (
            (1, "decision", "Kiln queue in Redis", "The kiln queue moved to Redis.", "[]"),
            (2, "change", "Renamed the queue", "Renamed kiln to oven.", '["Two files changed"]'),
        )
        for id_, type_, title, narrative, facts in rows:
            database.execute(
                "INSERT INTO observations (id, project, type, title, facts, narrative, concepts,"
                " created_at, created_at_epoch) VALUES (?, 'kiln', ?, ?, ?, ?, '[\"trade-off\"]',"
                " '2026-01-05T08:00:00Z', 1767600000000)",
                (id_, type_, title, facts, narrative),
            )
        database.execute(
            "INSERT INTO session_summaries VALUES (1, 'kiln', 'Move the queue', 'Redis needs a"
            " password.', 'The move.', NULL, '2026-01-05T09:00:00Z', 1767603600000)"
        )
        database.commit()
        return database.serialize()


FOLDERS: dict[str, dict[str, bytes]] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "mcp-memory": MCP_MEMORY,
    "claude-mem": {"claude-mem.db": _database()},
    "artifacts": ARTIFACTS,
    "mem0": MEM0,
    "claude-code": CLAUDE_CODE,
    "obsidian": OBSIDIAN,
    "okf": OKF,
    "openclaw": OPENCLAW,
    "memory-fs": MEMORY_FS,
    "layered": LAYERED,
    "remnic": REMNIC,
    "hybrid": HYBRID,
}
