"""Read a markdown file of another program: its header as nodes, its body, and its links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from memrepo.core.codec import normal_body
from memrepo.core.fields import Node
from memrepo.core.header import not_utf8
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.read.documents import read_lines
from memrepo.read.headers import read_head
from memrepo.text.dates import date_of_path

_WIKI = regex(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = regex(r"\]\(<?([^()<>\s]{1,300}\.md)>?(?:#[^()\s]{0,200})?\)")
_TAG = regex(r"(?<![\w/#&])#([^\W\d_][\w/-]{0,100})")


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A markdown file: header values with their lines, the body, and the body's line range.

    Line numbers are one-based.
    """

    path: str
    values: Mapping[str, Node] = msgspec.field(default_factory=dict)
    at: Mapping[str, int] = msgspec.field(default_factory=dict)
    body: str = ""
    lines: tuple[int, int] = (1, 1)

    @property
    def stem(self) -> str:
        """Return the file's name without its extension."""
        return PurePosixPath(self.path).stem

    @property
    def day(self) -> str:
        """Return the ISO date in the file's name, or an empty string."""
        return date_of_path(self.path)

    def text(self, key: str) -> str:
        """Return a header value if it is a text, or else an empty string."""
        value = self.values.get(key)
        return str(value).strip() if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        """Return a header value as a list of texts. A comma-separated text is split."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        parts = (part for item in found if isinstance(item, str) for part in item.split(","))
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def read_page(path: str, data: bytes) -> tuple[Page | None, list[Problem]]:
    """Read a file into header and body. Return None if the file is not UTF-8.

    A file without a header is all body.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, [not_utf8(path, data, error.start)]
    head = read_head(text, path)
    noted = []
    if (problem := head.problem) is not None:
        how = (
            "the header was read line by line" if head.last else "all of the file was read as text"
        )
        noted = [
            Problem(
                path=path,
                line=problem.line,
                column=1,
                rule="import-header",
                message=f"{problem.message}: {how}",
                severity="warning",
                fix=f"if something is missing here, {problem.fix} there, and import again",
            )
        ]
    body = normal_body(head.body)
    lines = (head.body_line, head.body_line + body.count("\n")) if body else (0, 0)
    page = Page(path=path, values=head.values, at=head.at, body=body, lines=lines)
    return page, noted


def read_pages(files: Mapping[str, bytes]) -> tuple[list[Page], list[Problem]]:
    """Read all readable files, sorted by name. Return the pages and the problems."""
    pages, problems = [], []
    for path in sorted(files):
        page, found = read_page(path, files[path])
        problems += found
        if page is not None:
            pages.append(page)
    return pages, problems


def prose(page: Page) -> Iterator[tuple[int, str]]:
    """Yield (number, line) pairs for the lines of a body, except those in fenced code."""
    source = read_lines(page.path, page.body.encode())
    for number, line in enumerate(source.text, start=1):
        if number not in source.fenced:
            yield page.lines[0] + number - 1, line


def linked(text: str) -> tuple[str, ...]:
    """Return the unique link targets in a text: `[[names]]`, and files in markdown links."""
    found = [name.strip() for name in _WIKI.findall(text)]
    return tuple(dict.fromkeys([*found, *map(unquoted, _LINK.findall(text))]))


def unquoted(target: str) -> str:
    """Return the file name in a relative markdown link, without its extension."""
    from urllib.parse import unquote

    return PurePosixPath(unquote(target)).stem


def hashtags(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the unique hashtags in some lines, without the `#`."""
    return tuple(dict.fromkeys(tag for line in lines for tag in _TAG.findall(line)))


def names_of(page: Page) -> tuple[str, ...]:
    """Return the names by which links may refer to a file, such as its stem, path and title."""
    path = page.path.removesuffix(".md")
    names = [page.stem, path, page.text("title"), page.text("permalink"), page.text("name")]
    return tuple(dict.fromkeys(filter(None, names)))


def is_markdown(path: str) -> bool:
    """Return whether a path is a markdown file outside hidden folders."""
    return path.endswith(".md") and not any(part.startswith(".") for part in path.split("/"))


def properties(page: Page, known: Collection[str]) -> str:
    """Return the header values for which memrepo has no field, one line per key."""
    found = ((key, page.texts(key)) for key in page.values if key not in known)
    return "\n".join(f"{key}: {', '.join(values)}" for key, values in found if values)
