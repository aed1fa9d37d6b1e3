"""Entry point of `python -m memrepo` and of the installed `memrepo` program."""

import os
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
    if sys.getfilesystemencoding() != "utf-8":  # names of files are UTF-8 in every locale
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606
    # msgspec takes from it what `typing` has too, and loading it takes a tenth of a short command.
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    from memrepo.faces.cli import main as command_line

    if not sys.modules["typing_extensions"]:
        del sys.modules["typing_extensions"]
    return command_line()


if __name__ == "__main__":
    sys.exit(main())
