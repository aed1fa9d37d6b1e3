"""`python -m memrepo`, and the program that an installation puts on the path."""

import sys

_LONGEST_START = 60.0
"""A start that seems to have taken longer is a clock that does not fit."""


def main() -> int:
    """Run the command line; the version is told without loading it."""
    match sys.argv[1:]:
        case ["--version"] | ["-C", _, "--version"]:
            from memrepo import __version__

            sys.stdout.write(f"memrepo {__version__}\n")
            return 0
    if sys.platform == "win32":
        sys.stderr.write(
            "memrepo: Windows has not the locks that memrepo relies on\n"
            "  try: run it in WSL, where it is on Linux\n"
        )
        return 5
    from memrepo.faces.cli import main as command_line

    code = command_line(age=_age)
    if hook := sys.modules.get("memrepo.faces.hosts.hook"):
        hook.leave(code)
    return code


def _age() -> float:
    """Return the seconds since this process began; 0 where the system does not tell."""
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
