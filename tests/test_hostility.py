"""Every row of the git hostility table names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| .* \| `(tests/[a-z_/]+\.py)::(test_\w+)` \|$", re.MULTILINE)


def test_every_row_of_the_table_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "git-hostility.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert len(rows) == len([x for x in text.splitlines() if x.startswith("| ")]) - 2
    missing = []
    for path, name in rows:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        if name not in {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}:
            missing.append(f"{path}::{name}")
    assert missing == []
