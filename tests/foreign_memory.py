"""Other programs' memory as they document it, small, in our own words; `SAID` is what each says."""

from __future__ import annotations

import json

MEM0: dict[str, bytes] = {
    "mem0.json": json.dumps(
        {
            "results": [
                {
                    "id": "8f0c2f8e-1f7a-4f5e-9a3f-0c6f3a1b2c3d",
                    "memory": "Prefers window seats on long train journeys",
                    "hash": "a1b2c3", "user_id": "vera", "categories": ["travel"],
                    "metadata": {"category": "seats"},
                    "created_at": "2026-01-05T08:30:00.123456-08:00",
                    "updated_at": "2026-01-06T08:30:00-08:00",
                },
                {
                    "id": "0d3b7f80-4c11-4e0e-8a55-8d1d8c7f2f10",
                    "memory": "Is allergic to hazelnuts and carries a pen", "hash": "d4e5f6",
                    "agent_id": "planner", "metadata": None, "created_at": "2026-01-07T09:00:00Z",
                    "updated_at": None, "expiration_date": "2030-12-31",
                },
                {"id": "5a5a", "memory": "", "created_at": "2026-01-07T09:00:00Z"},
                {"id": "6b6b", "memory": "Keeps bees behind the barn now", "created_at": "soon"},
            ],
            "relations": [{"source": "vera", "relationship": "keeps", "target": "bees"}],
        },
        indent=2,
    ).encode()
}  # fmt: skip

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

BASIC_MEMORY: dict[str, bytes] = {
    "gardening/Compost.md": b"""\
---
title: Compost
type: note
tags: [garden, soil]
permalink: gardening/compost
created: 2026-02-01
---

# Compost

The heap behind the shed takes a year.

## Observations
- [technique] Turn the heap every second week in summer #compost
- [decision] No citrus peel goes onto the heap (it never rots)
- [ ] buy a second fork

## Relations
- contrasts_with [[Bought Soil]]
- part_of [[Garden Plan]]
""",
    "gardening/Bought Soil.md": b"---\ntitle: Bought Soil\n---\n\nPeat free soil for seedlings.\n",
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

FOLDERS: dict[str, dict[str, bytes]] = {
    "mem0": MEM0, "claude-code": CLAUDE_CODE, "basic-memory": BASIC_MEMORY, "obsidian": OBSIDIAN,
    "okf": OKF,
}  # fmt: skip
