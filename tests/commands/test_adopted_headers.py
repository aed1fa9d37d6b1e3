"""Headers as other tools write them, in a folder that memrepo adopts: no byte of them changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import workspaces
from driving import done, files, git, memrepo

ROOT = Path(__file__).resolve().parents[2]
OBSIDIAN = b"""\
---
tags: [project/alpha, 2026]
aliases:
  - Alpha
  - "The: Alpha"
cssclasses: wide
up: "[[Projects]]"
related:
  - "[[Beta|the second]]"
rating: 4.5
done: false
due: 2026-05-01
status: in progress
type: project
id: alpha
---
# Alpha

See [[Beta#Plan|beta]], ![[map.png]] and #tag/inner. ^block-1
"""
JEKYLL = b"""\
---
layout: post
title:  "Welcome: to the blog"
date:   2026-02-03 09:10:11 +0200
categories: [news, dev]
tags: first second
permalink: /:categories/:title/
published: false
---
{% raw %}{{ hello }}{% endraw %}\r
"""
HUGO_TOML = b"""\
+++
title = "A post"
date = 2026-01-02T03:04:05-07:00
draft = true
tags = ["a", "b"]
[params]
  author = "x"
  [params.nested]
    deep = 1
+++
Text {{< figure src="a.png" >}}
"""
HUGO_YAML = b"""\
---
title: A page
date: 2026-01-02T03:04:05Z
draft: true
params:
  nested: {deep: [1, 2]}
menu:
    main:
        weight: -10
---
"""
CLAUDE_CODE = b"""\
---
name: user-role
description: "What the user does: builds compilers"
metadata:
  node_type: memory
  type: user
  originSessionId: 6f1c9c1e-2d40-4b41-8a44-0123456789ab
---

The user builds compilers in the Lisbon office.

See [[feedback-tests]].
"""
LETTA = b"""\
---
label: persona
description: How the agent speaks.
limit: 20000
read_only: false
metadata: {}
---
I am terse.
"""
GIVEN = {
    "vault/notes/Alpha.md": OBSIDIAN,
    "site/_posts/2026-02-03-welcome.md": JEKYLL,
    "blog/content/posts/a.md": HUGO_TOML,
    "blog/content/about.md": HUGO_YAML,
    "memory/user_role.md": CLAUDE_CODE,
    "MEMORY.md": b"- [Role](memory/user_role.md) - what the user does\n",
    "system/persona.md": LETTA,
}
TAKEN = {f"memories/knowledge/{Path(name).name}": data for name, data in GIVEN.items()}
"""The same files where memories of memrepo's own would lie: a name that is taken."""


@pytest.mark.parametrize("more", [{}, TAKEN], ids=["free names", "names taken"])
def test_headers_of_other_tools_stay_as_they_are(tmp_path: Path, more: dict[str, bytes]) -> None:
    given = {**GIVEN, **more}
    folder = workspaces.write(tmp_path / "vault", given)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "theirs")
    done(folder, "init")
    program = tmp_path / "memrepo"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m memrepo "$@"\n')
    program.chmod(0o755)
    git(folder, "config", "memrepo.program", str(program))
    assert done(folder, "check", "--all")["problems"] == []
    changed = {name: data + b"\nOne more line.\n" for name, data in given.items()}
    for name, data in changed.items():
        (folder / name).write_bytes(data)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "through the hooks")
    assert done(folder, "run")["status"] == "ok"
    answer = memrepo(folder, "check", "--fix", *given)
    assert (answer.exit, answer.data["problems"], answer.data["fixed"]) == (0, [], [])
    assert done(folder, "check", "--all")["problems"] == []
    after = files(folder)
    assert {name: after[name] for name in given} == changed
    assert git(folder, "status", "--porcelain") == ""
