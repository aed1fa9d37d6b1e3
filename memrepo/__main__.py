"""Entry point of `python -m memrepo` and of the installed `memrepo` program."""

import sys

_LONGEST_START = 60.0
"""Longest plausible startup, in seconds. A longer measured time means that the clocks disagree."""


def main() -> int:
    """Run the command line and return its exit code. `--version` does not load the command line."""
    match sys.argv[1:]:
        case ["--version"] | ["-C", _, "--version"]:
            from memrepo import __version__

            sys.stdout.write(f"memrepo {__version__}\n")
            return 0
    if sys.platform == "win32":
        sys.stderr.write(
            "memrepo: Windows lacks the file locks that memrepo needs\n  try: run it in WSL\n"
        )
        return 5
    from memrepo.faces.cli import main as command_line

    code = command_line(age=_age)
    if hook := sys.modules.get("memrepo.faces.hook"):
        hook.leave(code)
    return code


def _age() -> float:
    """Return the seconds since this process started, or 0 if the system does not report them."""
    import os
    import time
    from pathlib import Path

    try:
        told = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        began = int(told[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, ValueError, AttributeError, IndexError):
        return 0.0
    return age if 0 <= age < _LONGEST_START else 0.0


if __name__ == "__main__":
    sys.exit(main())
