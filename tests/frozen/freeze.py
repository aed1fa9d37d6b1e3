"""Freeze a repository as this memrepo writes it: run once for each format, before it changes."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import workspaces  # noqa: E402
from driving import begin, done, git, memories, memrepo  # noqa: E402

from memrepo.keys import FORMAT  # noqa: E402


def frozen(base: Path) -> Path:
    """Make a repository with something of everything in it."""
    own = base / "gitconfig"
    own.write_text(
        "[user]\n\tname = Vera\n\temail = vera@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    os.environ |= {"GIT_CONFIG_GLOBAL": str(own), "GIT_CONFIG_SYSTEM": os.devnull, "TZ": "UTC"}
    repo = begin(base, workspaces.growing(base / "workspace", 0), "--tz", "Europe/Rome")
    for day in range(1, 4):
        workspaces.growing(base / "workspace", day)
        done(repo, "run", now=f"2026-03-{day + 1:02d}T09:00:00Z")
    done(repo, "add", "The boat is moored at the north pier.", now="2026-03-04T10:00:00Z")
    rose = next(m.id for m in memories(repo).values() if "roses" in m.body)
    done(repo, "reject", rose, "--reason", "it was last year", now="2026-03-04T11:00:00Z")
    done(repo, "search", "greenhouse", now="2026-03-04T12:00:00Z")
    done(repo, "session", "end", now="2026-03-04T12:30:00Z")
    done(repo, "revert", done(repo, "runs")["runs"][0]["run"], now="2026-03-05T09:00:00Z")
    held = memrepo(repo, "run", now="2026-03-06T09:00:00Z")
    assert held.exit == 3, held
    return repo


def main() -> int:
    """Write the bundle of this format; an older one is never written over."""
    path = HERE / f"format-{FORMAT}.bundle"
    if path.exists():
        print(f"{path.name} is there already and stays")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        repo = frozen(Path(folder))
        git(repo, "repack", "-adq")
        git(repo, "bundle", "create", "-q", str(path), "--all")
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
