"""What nights with a model cost: a scripted judge answers, and every token is counted.

`python -m benchmarks.proving.modelled` is that judge: a question on its stdin, a sound answer on
its stdout. It keeps all that it is asked about, so no model says more; tokens are characters / 4.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import msgspec

from benchmarks.measure import ROOT, answer_of
from benchmarks.thousand import START, write_day

NIGHTS = 8


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """What one night asked of the judge, and what an estimate says a model would be paid."""

    calls: int
    tokens: int
    estimate: int
    usd: float


def nights(count: int = NIGHTS) -> list[Night]:
    """Play nights of an agent that writes a dozen lines a day; the first takes in nothing old."""
    found = []
    with tempfile.TemporaryDirectory(prefix="memrepo-modelled-") as folder:
        workspace, repo = Path(folder) / "agent", Path(folder) / "repo"
        write_day(workspace, 0)
        answer_of("init", str(repo), "--from", str(workspace), now=f"{START:%FT%TZ}")
        said = f"env PYTHONPATH={ROOT} {sys.executable} -m benchmarks.proving.modelled"
        config = ["git", "-C", str(repo), "config", "memrepo.judge.command", said]
        subprocess.run(config, check=True)
        for night in range(1, count + 1):
            write_day(workspace, night)
            now = f"{START + timedelta(days=night):%FT%TZ}"
            head = ("-C", str(repo), "run", "--judge")
            told = answer_of(*head, "anthropic", "--estimate", now=now)
            ran = answer_of(*head, "command", now=now)
            (manifest,) = repo.glob(f"runs/*/{ran['run']}.json")
            kept = json.loads(manifest.read_bytes())
            found.append(
                Night(
                    calls=int(kept["calls"]),
                    tokens=int(kept["tokens"]["total"]),
                    estimate=int(told["tokens"]["total"]),
                    usd=float(told["cost_usd"]),
                )
            )
    return found


def main() -> None:
    """Answer one question, as the tests' service does."""
    sys.path.insert(0, str(ROOT / "tests"))
    from serving import good

    print(good(sys.stdin.read()))


if __name__ == "__main__":
    main()
