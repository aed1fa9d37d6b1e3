"""Reading a folder of canonical memory files, against python-frontmatter."""

from __future__ import annotations

from pathlib import Path

import frontmatter

from benchmarks.measure import Ratio, Sizes, medians_s, timed
from benchmarks.memories import memories
from memrepo.core import codec


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Decode the same files by turns; ours checks every field against the schema as well."""
    del folder
    files = {memory.path: codec.encode(memory) for memory in memories(sizes.files)}

    def ours() -> None:
        for path, data in files.items():
            memory, problems = codec.decode(path, data)
            assert memory is not None
            assert not problems

    def theirs() -> None:
        for data in files.values():
            assert frontmatter.loads(data.decode("utf-8")).metadata

    found = medians_s(sizes.turns, ours=lambda: timed(ours), theirs=lambda: timed(theirs))
    return [
        Ratio(
            name="decode, ours / python-frontmatter",
            ratio=found["ours"] / found["theirs"],
            bound=1,
            count=sizes.files,
            turns=sizes.turns,
        ),
    ]
