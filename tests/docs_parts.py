"""Generate the parts of the documentation that come from the code.

A part `name` is the text between `<!-- name:start -->` and `<!-- name:end -->`. `make docs` runs
this file to refresh them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memrepo.actions.verbs import Verb
from memrepo.checks.rules import GROUPS as RULE_GROUPS
from memrepo.checks.rules import all_rules
from memrepo.config import KEYS
from memrepo.core.memory import FIELDS, Field, expected_of
from memrepo.faces.cli import GROUPS, add_globals, command_parser
from memrepo.faces.mcp import TOOLS

ROOT = Path(__file__).resolve().parents[1]
PART = re.compile(r"<!-- ([a-z -]+):start -->\n(.*?)<!-- \1:end -->", re.DOTALL)
_LONG = 6


def pages() -> list[Path]:
    """Return every page of the documentation."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def rewrite(paths: Iterable[Path], refreshed: Callable[[str], str]) -> None:
    """Write what `refreshed` returns for each page where it differs, and print which."""
    for path in paths:
        text = path.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh != text:
            path.write_text(fresh, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: refreshed")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Render a markdown table; what would end a cell is escaped."""
    names = list(head)
    lines = [names, ["---"] * len(names)]
    lines += [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def field_table() -> str:
    """Render the frontmatter fields, in the order of a file."""
    rows = [
        (f"`{f.name}`", _value(f), "person" if f.is_by_person else "machine", f.doc) for f in FIELDS
    ]
    return table(("field", "value", "written by", "meaning"), rows)


def _value(field: Field) -> str:
    default = field.default
    shown = "" if default in (None, (), "") else f"; absent means {str(default).lower()}"
    return expected_of(field.type) + shown


def key_table() -> str:
    """Render the configuration keys, in the order of `config`."""
    rows = [
        (f"`{key.name}`", key.expected, _default(key.spell(key.default)), key.doc)
        for key in KEYS.values()
    ]
    return table(("key", "value", "default", "meaning"), rows)


def _default(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Mapping):
        return "see `memrepo config`"
    if not isinstance(value, list):
        return f"`{value}`"
    if len(value) > _LONG:
        return f"{len(value)} patterns, see below"
    return ", ".join(f"`{part}`" for part in value) or "none"


def pattern_list(name: str) -> str:
    """List the default patterns of a key as a TOML comment would show them."""
    key = KEYS[name]
    return ", ".join(f"`{part}`" for part in key.default)


def rule_tables() -> str:
    """Render the rules of `check` by group."""
    parts = []
    for group, title in RULE_GROUPS.items():
        rows = [
            (f"`{r.name}`", r.severity, r.doc, r.repair)
            for r in all_rules().values()
            if r.group == group
        ]
        shown = table(("rule", "severity", "what it asks for", "what `--fix` does"), rows)
        parts.append(f"## {title} (`{group}`)\n\n{shown}\n")
    return "\n".join(parts)


def command_entries() -> str:
    """Render one entry per command, by group, in the order of `memrepo help --all`."""
    return "\n\n".join(
        "\n\n".join([f"## {group.capitalize()}", *(entry(verb) for verb in verbs)])
        for group, verbs in GROUPS.items()
    )


def global_table() -> str:
    """Render the global options."""
    parser = argparse.ArgumentParser(add_help=False)
    add_globals(parser, defaults=True)
    return table(("option", "meaning"), _rows(parser._actions))


def own_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what a command takes besides --help and the global options."""
    shared = argparse.ArgumentParser()
    add_globals(shared, defaults=True)
    known = {tuple(action.option_strings) for action in shared._actions if action.option_strings}
    return [a for a in parser._actions if tuple(a.option_strings) not in known]


def entry(verb: Verb) -> str:
    """Render a command: what it does, how it is written, and what it takes."""
    actions = own_actions(command_parser(verb.name))
    words = [_positional(a) for a in actions if not a.option_strings]
    options = ["[OPTION ...]"] if len(words) < len(actions) else []
    line = " ".join(["memrepo", verb.name, *options, *words])
    head = f"### `memrepo {verb.name}`\n\n`{line}`: {verb.says}."
    return head + ("\n\n" + table(("", ""), _rows(actions)) if actions else "")


def _positional(action: argparse.Action) -> str:
    name = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "*":
            return f"[{name} ...]"
        case "+":
            return f"{name} [{name} ...]"
        case _:
            return name


def _named(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return f"`{names}`"
    choices = "|".join(map(str, action.choices or ()))
    value = action.metavar or (choices if len(choices) < 30 else "") or action.dest.upper()
    return f"`{names} {value}`"


def _rows(actions: Iterable[argparse.Action]) -> list[tuple[str, str]]:
    rows = []
    for action in actions:
        first = _named(action) if action.option_strings else f"`{_positional(action)}`"
        said = (action.help or "").replace("%(default)s", str(action.default))
        choices = [str(word) for word in action.choices or ()]
        if len("|".join(choices)) >= 30 and not all(word in said for word in choices):
            said = f"{said}; one of {', '.join(choices)}".removeprefix("; ")
        rows.append((first, said))
    return rows


def tool_table() -> str:
    """Render the tools for agents with their arguments; those in brackets may be left out."""
    rows = []
    for tool in TOOLS.values():
        takes = (f"`{n}`" if n in tool.required else f"[`{n}`]" for n in tool.names)
        rows.append((f"`{tool.name}`", " ".join(takes), tool.description))
    return table(("tool", "takes", "what for"), rows)


def part(name: str) -> str:
    """Render one generated part; raises KeyError for a name that is none."""
    word, _, rest = name.partition(" ")
    match word, rest:
        case "fields", "":
            return field_table()
        case "keys", "":
            return key_table()
        case "patterns", _:
            return pattern_list(f"sources.{rest}")
        case "check-rules", "":
            return rule_tables()
        case "commands", "":
            return command_entries()
        case "globals", "":
            return global_table()
        case "tools", "":
            return tool_table()
    raise KeyError(name)


def refreshed(page: str) -> str:
    """Return a page with every generated part rendered again."""
    return PART.sub(lambda m: f"<!-- {m[1]}:start -->\n{part(m[1])}\n<!-- {m[1]}:end -->", page)


def main() -> int:
    """Refresh the generated parts."""
    rewrite(pages(), refreshed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
