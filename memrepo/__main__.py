"""Entry point of `python -m memrepo` and of the installed `memrepo` program."""

import sys


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
    _import_msgspec()
    from memrepo.faces.cli import main as command_line

    return command_line()


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which takes as long as all of msgspec.

    msgspec falls back to `typing`, which has all that it needs since Python 3.11.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


if __name__ == "__main__":
    sys.exit(main())
