"""Find the lines that unrelated workspaces share: text that every new workspace is given.

    python -m benchmarks.judge.stock WORKSPACE ... > memrepo/read/stock.txt

Only hashes are written, of lines that occur in at least four workspaces: no line that is one
owner's can be found by them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from memrepo.read.kinds import stock_hash

LEAST = 4


def main(roots: list[str]) -> None:
    """Print the hashes of the shared lines, sorted."""
    counted: Counter[str] = Counter()
    for root in roots:
        lines: set[str] = set()
        for path in Path(root).rglob("*.md"):
            lines.update(path.read_text("utf-8", "replace").splitlines())
        counted.update({hash_ for line in lines if (hash_ := stock_hash(line))})
    print("\n".join(sorted(hash_ for hash_, count in counted.items() if count >= LEAST)))


if __name__ == "__main__":
    main(sys.argv[1:])
