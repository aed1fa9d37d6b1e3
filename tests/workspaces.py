"""Agent workspaces on disk: a small one, how it grows day by day, and one with everything."""

from __future__ import annotations

from pathlib import Path

from ugly_files import ugly_files


def small(path: Path) -> Path:
    """Write a workspace of a dozen lines: claims, a lesson, a procedure, a daily log."""
    return write(path, SMALL)


def growing(path: Path, day: int) -> Path:
    """Write the small workspace as it stands on a day: 0 as it began, 1 a bullet and a log more.

    On day 2 a section of the first log is written on, on day 3 a value has changed, on day 4 the
    first log is gone, on day 5 a topic file has another name.
    """
    files = dict(SMALL)
    if day >= 1:
        files["MEMORY.md"] += b"- Vera decided to keep the greenhouse heated at 14 degrees.\n"
        files["memory/2026-02-03.md"] = b"# 2026-02-03\n\n## 08:10\n\nThe new pump arrived.\n"
    if day >= 2:
        grown = b"- The seed order was placed with Holt.\n- Holt confirmed it by phone.\n"
        files["memory/2026-02-01.md"] = files["memory/2026-02-01.md"].replace(
            b"- The seed order was placed with Holt.\n", grown
        )
    if day >= 3:
        files["MEMORY.md"] = files["MEMORY.md"].replace(
            b"- **Watering interval:** every 3 days (2026-01-05)",
            b"- **Watering interval:** every 5 days (2026-02-10)",
        )
    if day >= 4:
        del files["memory/2026-02-01.md"]
    if day >= 5:
        files["memory/tools-and-sheds.md"] = files.pop("memory/tools.md")
    return write(path, files)


def servers(path: Path, day: int) -> Path:
    """Write a workspace of two lines; on day 1 one more, and a newer value of one of them."""
    lines = ["- The server alpha keeps the archive of the choir.", "- [2026-01-10] **Editor:** vim"]
    if day >= 1:
        lines[1:1] = ["- The server beta answers the telephone of the parish."]
        lines += ["- [2026-02-20] **Editor:** helix"]
    return write(path, {"MEMORY.md": ("# Infra\n\n" + "\n".join(lines) + "\n").encode()})


def write(path: Path, files: dict[str, bytes]) -> Path:
    """Make a folder hold exactly these files."""
    wanted = {path / name for name in files}
    for old in sorted(path.rglob("*"), reverse=True) if path.exists() else ():
        if old.is_file() and old not in wanted:
            old.unlink()
    for name, data in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return path


SMALL: dict[str, bytes] = {
    "MEMORY.md": b"""\
# Memory

## Garden

- **Watering interval:** every 3 days (2026-01-05)
- Vera prefers raised beds because her back hurts.
- We decided to plant only heirloom tomatoes from 2026 on.
""",
    "RTMEMORY.md": b"# Lessons\n\n- Never prune the roses before the last frost in April.\n",
    "PROCEDURES.md": b"# Procedures\n\n## Start the pump\n\n1. Open the valve.\n2. Press start.\n",
    "memory/tools.md": b"# Tools\n\n- The rotary hoe must always be stored with an empty tank.\n",
    "memory/2026-02-01.md": b"""\
# 2026-02-01

## 09:00 Orders

- The seed order was placed with Holt.

## 15:30 Weather

Hail broke two panes of the greenhouse.
""",
    "memory/2026-02-02.md": b"# 2026-02-02\n\nQuiet day; the compost was turned.\n",
}


def ugly(path: Path) -> Path:
    """Write a workspace with everything that real ones have been seen to hold, and worse."""
    write(path, ugly_files())
    outside = path.parent / f"{path.name}-outside"
    outside.mkdir(exist_ok=True)
    (outside / "diary.md").write_text("- zqlinked is what lies behind a link.\n", encoding="utf-8")
    (path / "memory" / "linked.md").symlink_to(outside / "diary.md")
    (path / "episodes").mkdir(exist_ok=True)
    (path / "episodes" / "2026-01-09.md").symlink_to(outside / "diary.md")
    (path / "inbox").mkdir(exist_ok=True)
    (path / "inbox-linked").symlink_to(outside)
    (path / "memory" / "folder").symlink_to(outside)
    return path
