"""`memrepo demo`: an offline tour that runs commands on sample data and shows their output."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Call, Work
from memrepo.assets import asset
from memrepo.config import parse_config
from memrepo.core.errors import UsageError
from memrepo.faces.cli.parser import run_line
from memrepo.policies.cadence import WINDOW, guard

PAUSE_S = 1.5
LINES = 14


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `demo`."""

    dir: Annotated[str, option("create the demo in this folder", metavar="DIR")] = ""
    fast: Annotated[bool, option("do not pause between the steps", "--fast")] = False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the tour and its result."""

    command: str
    exit: int
    answer: dict[str, Any]


class Result(VerbResult, frozen=True, kw_only=True):
    """The steps of the tour, and the path of its repository, which is empty after removal."""

    steps: tuple[Step, ...]
    kept: str


def do(work: Work, request: Request) -> Result:
    """Run the tour in DIR, or in a temporary folder that is removed afterwards."""
    with _folder(work.call, request.dir) as folder:
        steps = _tour(_free(work.call), folder, 0.0 if request.fast or work.call.json else PAUSE_S)
    kept = str(folder / "memory") if request.dir else ""
    return Result(steps=tuple(steps), kept=kept)


def _free(call: Call) -> Call:
    """Return the call at the next time at which no reconciliation blocks the runs of the tour."""
    config = parse_config("")
    while guard(call.now, config.cadence, config.zone):
        call = replace(call, now=call.now + WINDOW)
    return call


@contextmanager
def _folder(call: Call, name: str) -> Iterator[Path]:
    if name:
        folder = call.where / name
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(
                f"{folder} is not empty",
                fix="name a folder that does not exist yet",
            )
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    else:
        with tempfile.TemporaryDirectory(prefix="memrepo-demo-") as made:
            yield Path(made)


def _tour(call: Call, folder: Path, pause_s: float) -> list[Step]:
    shutil.copytree(asset("templates", "demo", "workspace"), folder / "workspace")
    guide = _Guide(call, folder, pause_s)
    guide.tell("An agent's workspace: a memory file, daily logs, episodes, procedures.")
    guide.do(folder, "init memory --from workspace --tz Asia/Manila")
    memory = folder / "memory"
    guide.tell("A run distils it into memories, one file each, and joins them with one merge.")
    guide.do(memory, "run")
    guide.do(memory, "log")
    guide.tell("Find a memory; every hit names the source line it came from.")
    found = guide.do(memory, "search what editor does Mara use -k 2")
    guide.tell("Show one: its fields, and the line itself, quoted from the recorded snapshot.")
    guide.do(memory, f"show {found['hits'][0]['id']}")
    guide.tell("The agent keeps writing: the operator changed editors. Run again.")
    shutil.copyfile(
        asset("templates", "demo", "later", "MEMORY.md"), folder / "workspace/MEMORY.md"
    )
    done = guide.do(memory, "run")
    guide.tell("Every decision of that run is a commit with a reason.")
    guide.do(memory, f"log --run {done['run']}")
    guide.tell("A bad run? One command reverts it; the tree is the same as before.")
    guide.do(memory, "revert")
    guide.do(memory, "log")
    guide.do(memory, "status")
    return guide.steps


class _Guide:
    """A guide for the tour. It runs commands, prints the start of their output and records it."""

    def __init__(self, call: Call, folder: Path, pause_s: float) -> None:
        self.call = call
        self.folder = folder
        self.pause_s = pause_s
        self.steps: list[Step] = []

    def tell(self, text: str) -> None:
        time.sleep(self.pause_s)
        self.call.say(f"\n# {text}")

    def do(self, where: Path, line: str) -> dict[str, Any]:
        """Run one command line in a folder, and return its result as JSON-compatible data.

        Only an error stops the tour.
        """
        self.call.say(f"$ memrepo {line}")
        with Work(replace(self.call, where=where, json=False)) as work:
            answer, text = run_line(work, shlex.split(line))
        lines = text.split("\n") + [str(p) for p in answer.notices]
        for shown in lines[:LINES]:
            self.call.say(shown)
        if len(lines) > LINES:
            self.call.say(f"... {len(lines) - LINES} more lines")
        data = answer.as_json()
        self.steps.append(Step(command=line, exit=int(answer.exit), answer=data))
        return data
