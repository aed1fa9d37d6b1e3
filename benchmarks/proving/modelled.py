"""What nights with a model cost: a scripted judge answers, and every token is counted.

`python -m benchmarks.proving.modelled` is that judge: a question on its stdin, a sound answer on
its stdout. It keeps all that it is asked about, so no model says more; tokens are characters / 4.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from benchmarks.measure import ROOT, answer_of

START = datetime(2026, 1, 1, 4, 17, tzinfo=UTC)
WHERE = ("harbour", "depot", "mill", "quarry", "school", "market", "ferry", "library")
WHO = ("Vera", "Holt", "Miso", "Ana", "Ben", "Eva", "Ruth", "Olaf")
NIGHTS = 8


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """What one night asked of the judge, and what an estimate says a model would be paid."""

    calls: int
    tokens: int
    estimate: int
    usd: float


def write_day(workspace: Path, day: int) -> None:
    """Write what the agent wrote on a day."""
    when = START + timedelta(days=day - 1)
    who, where = WHO[day % 8], WHERE[day // 8 % 8]
    talk = [f"- {WHO[n % 8]} asked about invoice {day * 10 + n} of the {where}." for n in range(10)]
    lasts = [
        f"- Decided: the {where} delivers on weekday {day % 7} from gate {day} on.",
        f"- {who} prefers calls about the {where} after {8 + day % 10}:00.",
    ]
    log = workspace / "memory" / f"{when:%Y-%m-%d}.md"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("\n".join([f"# {when:%Y-%m-%d}", "", *talk, *lasts, ""]), encoding="utf-8")
    memory = workspace / "MEMORY.md"
    text = memory.read_text(encoding="utf-8") if memory.exists() else "# Memory\n\n## Facts\n\n"
    line = f"- Gate {day} of the {where} has the code word {who.lower()}-{day}.\n"
    memory.write_text(text + line, encoding="utf-8")


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
