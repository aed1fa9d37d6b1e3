"""What one agent costs a night, and so a thousand: `python -m benchmarks.thousand [NIGHTS]`.

An invented agent writes a log of a dozen lines a day, two of which last, and edits its memory file.
Each night is a run of its own process; CPU is user and system time, which a busy machine does not
change. Tokens are what `run --estimate` says that Claude would be asked.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 1, 4, 17, tzinfo=UTC)
WHERE = ("harbour", "depot", "mill", "quarry", "school", "market", "ferry", "library")
WHO = ("Vera", "Holt", "Miso", "Ana", "Ben", "Eva", "Ruth", "Olaf")
NIGHTS = 30


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


def cpu() -> float:
    """Return the seconds of CPU that ended children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memrepo(where: Path, now: datetime, *argv: str) -> dict[str, object]:
    """Run a command line in a process of its own; return its JSON."""
    head = [sys.executable, "-m", "memrepo", "-C", str(where), "--now", f"{now:%FT%TZ}", "--json"]
    ran = subprocess.run([*head, *argv], capture_output=True, text=True, check=False)
    found: dict[str, object] = json.loads(ran.stdout or "{}")
    return found


def taken(folder: Path) -> int:
    """Return the bytes that a folder's files take on disk."""
    paths = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_blocks * 512 for path in paths)


def packed(repo: Path) -> int:
    """Return what a clone would send, in bytes."""
    words = ["git", "-C", str(repo), "pack-objects", "--all", "--stdout", "-q"]
    return len(subprocess.run(words, capture_output=True, check=True, input=b"").stdout)


def main() -> int:
    """Play the nights and print what the last third of them took."""
    nights = int(sys.argv[1]) if len(sys.argv) > 1 else NIGHTS
    os.environ |= {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    os.environ.setdefault("ANTHROPIC_API_KEY", "none")
    with tempfile.TemporaryDirectory() as folder:
        workspace, repo = Path(folder) / "agent", Path(folder) / "repo"
        write_day(workspace, 0)
        memrepo(Path(folder), START, "init", str(repo), "--from", str(workspace))
        late, tokens, usd = [], 0, 0.0
        for night in range(1, nights + 1):
            write_day(workspace, night)
            now = START + timedelta(days=night)
            if night == nights:
                told = memrepo(repo, now, "run", "--estimate", "--judge", "anthropic")
                tokens = int(dict(told.get("tokens") or {}).get("total") or 0)
                usd = float(told.get("cost_usd") or 0)
            before = cpu()
            memrepo(repo, now, "run")
            if night * 3 > nights * 2:
                late.append(cpu() - before)
        before, idle = cpu(), START + timedelta(days=nights, hours=1)
        memrepo(repo, idle, "run")
        print(f"nights: {nights}; memories: {len(list((repo / 'memories').rglob('*.md')))}")
        print(
            f"CPU a night: {sum(late) / len(late):.2f} s; with nothing new: {cpu() - before:.2f} s"
        )
        store = taken(repo / ".git") / 1e6
        print(f"packed: {packed(repo) / 1e3:.0f} kB; .git on disk: {store:.1f} MB")
        print(f"work tree on disk: {(taken(repo) - taken(repo / '.git')) / 1e6:.1f} MB")
        print(f"Claude, a night by estimate: {tokens:,} tokens, ${usd:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
