"""The tables of docs/benchmarks.md: kept as JSON when they were measured, rendered from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.scale import Row

KEPT = Path(__file__).with_name("kept.json")
SCALE = Path(__file__).parents[1] / "scale.json"
RATIOS = Path(__file__).parents[1] / "results.json"
Cell = str | int | float | None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the page: what was measured, by which command, with what noise."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    command: str
    noise: str
    """How far the same measurement lies apart when it is made again."""
    versions: Mapping[str, str] = {}


def kept(path: Path = KEPT) -> dict[str, Table]:
    """Return the tables that were measured, by name."""
    if not path.exists():
        return {}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Table])


def keep(tables: Mapping[str, Table], path: Path = KEPT) -> None:
    """Write tables beside those that are kept; those of the same name are replaced."""
    found = dict(sorted({**kept(path), **tables}.items()))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def shown(cell: Cell) -> str:
    """Return a cell as the page has it: three digits of a share, thousands set apart."""
    match cell:
        case None:
            return "not measured"
        case int():
            return f"{cell:,}"
        case float():
            return (
                f"{cell:.3f}"
                if abs(cell) < 1.0005
                else f"{cell:,.3g}"
                if cell < 100
                else f"{cell:,.0f}"
            )
    return cell.replace("|", "\\|")


def rendered(table: Table) -> str:
    """Render a table as markdown, with its command and its noise below."""
    rows: list[Sequence[str]] = [table.head, ["---"] * len(table.head)]
    rows += [[shown(cell) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    with_ = ", ".join(f"{name} {version}" for name, version in table.versions.items())
    told = [
        f"`{table.command}`" + (f", with {with_}" if with_ else "") + ".",
        f"Noise: {table.noise}.",
    ]
    return "\n".join([*lines, "", " ".join(told), ""])


def scaled(path: Path = SCALE) -> Table | None:
    """Return what `python -m benchmarks.scale` kept as a table, or nothing where it kept none."""
    if not path.exists():
        return None
    rows = msgspec.json.decode(path.read_bytes(), type=list[Row])
    sizes = sorted({size for row in rows for size in row.costs})
    cells = [
        (
            row.name,
            *(row.costs[size].starts if size in row.costs else None for size in sizes),
            "" if row.exponent is None else f"{row.exponent:.2f}",
            "" if row.bound is None else f"{row.bound:g}",
        )
        for row in rows
    ]
    return Table(
        head=("step", *(f"{size:,}" for size in sizes), "exponent", "bound"),
        rows=tuple(cells),
        command="python -m benchmarks.scale --large",
        noise="CPU, of each step the least of some turns; see the machine's noise",
    )


def ratios(path: Path = RATIOS) -> Table:
    """Return what `python -m benchmarks` kept as a table."""
    record = msgspec.json.decode(path.read_bytes(), type=_Record)
    return Table(
        head=("measured / its baseline", "of", "ratio", "bound"),
        rows=tuple(
            (row.name, row.count, f"{row.ratio:g}", "" if row.bound is None else f"{row.bound:g}")
            for row in record.ratios
        ),
        command="python -m benchmarks --large",
        noise="both are measured by turns, and medians are compared",
        versions=record.versions,
    )


class _Ratio(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    ratio: float
    bound: float | None
    count: int


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    versions: Mapping[str, str]
    ratios: list[_Ratio]


def part(name: str) -> str:
    """Render the part of the page of this name; what was not measured yet says so."""
    table = {"scale": scaled, "ratios": ratios}.get(name, lambda: kept().get(name))()
    return rendered(table) if table else "Not measured yet.\n"
