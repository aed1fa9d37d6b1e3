"""The files of a workspace with everything that real ones hold, and worse; written by us.

Words that start with `zq` mark text that must not get further than it should: `zqfence` stands in
fenced code, `zqmanaged` in what other programs wrote, `zqheader` in frontmatter, `zqdenied` in
files that runs never read, `zqsearched` in those that only search reads, `zqlinked` behind
symlinks, `zqbroken` in files that cannot be read.
"""

from __future__ import annotations

from pathlib import Path

from hostile_files import as_bytes, hostile_files, one
from large_files import large_files

STATIC = Path(__file__).parent / "data" / "ugly"
LATIN1 = "memory/latin1.md"
NEVER_TAKEN = ("zqdenied", "zqlinked", "zqbroken")
NEVER_DISTILLED = (*NEVER_TAKEN, "zqmanaged", "zqheader", "zqsearched")


def ugly_files() -> dict[str, bytes]:
    """Return the files of the ugly workspace by name; links are made on disk."""
    parts = (_static(), hostile_files(), _bytes(), large_files())
    return {name: data for part in parts for name, data in part.items()}


def _static() -> dict[str, bytes]:
    files = (file for file in sorted(STATIC.rglob("*")) if file.is_file())
    return {file.relative_to(STATIC).as_posix(): file.read_bytes() for file in files}


def _bytes() -> dict[str, bytes]:
    deep = "".join(f"{'  ' * n}- level {n} of a very deep list\n" for n in range(300))
    return {
        "memory/deep.md": as_bytes(f"# Deep\n\n{deep}\n- After the deep list.\n"),
        "memory/crlf.md": (
            b"# CRLF\r\n\r\n- Windows wrote this: the scanner must be restarted weekly.\r\n"
            b"- Its second line is plain.\r\n"
        ),
        "memory/mixed.md": (
            b"# Mixed\n\n- LF line: the freezer holds 40 frames.   \n"
            b"- CRLF line: the freezer must be defrosted in May.\r\n"
            b"- lone\rcarriage return line: the freezer hums.\n"
            b"- No line end at the end: the freezer has a lock"
        ),
        "memory/bom.md": (
            b"\xef\xbb\xbf# BOM\n\n"
            b"- A byte order mark stands before the title: the van must be serviced in June.\n"
        ),
        LATIN1: b"# Latin-1\n\n- zqbroken caf\xe9 must always be quarantined.\n",
        "memory/nul.md": one("NUL", "zqbroken has a NUL \x00 byte."),
    }
