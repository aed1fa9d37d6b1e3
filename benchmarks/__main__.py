"""`python -m benchmarks [--quick] [NAME ...]`: measure, print a table, write results.json."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import (
    ageing,
    consolidating,
    decoding,
    hooking,
    recalling,
    reverting,
    running,
    serving,
    starting,
    writing,
)
from benchmarks.measure import Ratio, Sizes
from memrepo import __version__

TINY = Sizes(
    commits=3,
    files=3,
    units=3,
    starts=1,
    events=50,
    memories=50,
    questions=1,
    turns=1,
    aged=(50,),
    searched=(50,),
    hooked=(2, 4),
)
LARGE = 100_000
RESULTS = Path(__file__).with_name("results.json")
ALL: Mapping[str, Callable[[Path, Sizes], list[Ratio]]] = {
    "writing": writing.measure,
    "starting": starting.measure,
    "hooking": hooking.measure,
    "decoding": decoding.measure,
    "running": running.measure,
    "reverting": reverting.measure,
    "ageing": ageing.measure,
    "recalling": recalling.measure,
    "serving": serving.measure,
    "consolidating": consolidating.measure,
}


def memory_disk() -> str | None:
    """Return a folder in memory where there is one: what a disk does beside us is not measured.

    On a busy disk the creation of a thousand files takes from 0.05 to 1 s and hides all else.
    """
    folder = Path("/dev/shm")
    return str(folder) if folder.is_dir() and os.access(folder, os.W_OK) else None


def versions() -> dict[str, str]:
    """Return the versions that the figures depend on."""
    git = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout
    return {
        "memrepo": __version__,
        "python": platform.python_version(),
        "git": git.split()[2],
    }


def table(ratios: Sequence[Ratio]) -> str:
    """Render ratios for a person."""
    wide = max(len(r.name) for r in ratios)
    head = f"{'':{wide}}  {'ratio':>7}  {'bound':>7}  {'count':>6}"
    rows = [
        f"{r.name:{wide}}  {r.ratio:7.2f}  {'' if r.bound is None else f'{r.bound:.2f}':>7}"
        f"  {r.count:6}{'' if r.met else '  missed'}"
        for r in ratios
    ]
    return "\n".join([head, *rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks; results are written when all of them ran in full size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--large", action="store_true", help=f"runs and recall at {LARGE:,} too")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results here")
    options = parser.parse_args(argv)
    if unknown := sorted(set(options.names) - set(ALL)):
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    sizes = TINY if options.quick else Sizes()
    if options.large:
        sizes = replace(sizes, aged=(*sizes.aged, LARGE), searched=(*sizes.searched, LARGE))
    ratios = []
    for name in options.names or ALL:
        with tempfile.TemporaryDirectory(prefix="memrepo-bench-", dir=memory_disk()) as folder:
            ratios += ALL[name](Path(folder), sizes)
    print(table(ratios))
    whole = not options.quick and not options.names
    if out := options.out or (RESULTS if whole else None):
        record = {"versions": versions(), "ratios": [rounded(r) for r in ratios]}
        out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def rounded(ratio: Ratio) -> dict[str, object]:
    """Return a ratio for the record, with as many digits as mean something."""
    record = ratio.as_json()
    bound = None if ratio.bound is None else round(ratio.bound, 2)
    return {**record, "ratio": float(f"{ratio.ratio:.2g}"), "bound": bound}


if __name__ == "__main__":
    sys.exit(main())
