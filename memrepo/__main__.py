"""`python -m memrepo`, and the program that an installation puts on the path."""

import sys


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
            "  to mend it: run it in WSL, where it is on Linux\n"
        )
        return 5
    from memrepo.faces.cli import main as command_line

    code = command_line()
    if hook := sys.modules.get("memrepo.faces.hosts.hook"):
        hook.leave(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
