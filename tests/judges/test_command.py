"""The command judge with real programs: stdin in, stdout out, and nothing else."""

from __future__ import annotations

import json
import os
import stat
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest
import serving
from driving import assert_sound, done, git, memories, memrepo
from workspaces import growing

from memrepo.core.judge import BadReply, Candidate, JudgeFailed, PromotionRequest
from memrepo.judges.command import (
    ARGUMENT_LIMIT,
    ENVELOPE,
    PROMPT,
    READY,
    SYSTEM,
    Command,
    CommandNotFound,
    unwrapped,
)
from memrepo.judges.prompting import Prompt, promotion_prompt

HERE = Path(serving.__file__).parent


def program(path: Path, body: str) -> Path:
    text = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(HERE)!r})\n"
    path.write_text(text + textwrap.dedent(body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def prompt(text: str = "a text") -> Prompt:
    return promotion_prompt(
        PromotionRequest(
            profile="personal",
            now=datetime(2026, 3, 1, tzinfo=UTC),
            candidates=(Candidate(candidate_id="cand-1", text="a text", context=(text,)),),
        )
    )


def ask(path: Path, text: str = "a text", timeout_s: float = 20):
    return Command(arguments=(str(path),), timeout_s=timeout_s).ask(prompt(text))


GOOD = "from serving import good\nsys.stdout.write(good(sys.stdin.read()))\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    return tmp_path / "repo"


@pytest.mark.parametrize("where", ["clone", "user"])
def test_a_program_judges_a_whole_run(
    repo: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path / "judge me.py", GOOD)
    if where == "clone":
        git(repo, "config", "memrepo.judge.command", f"'{path}'")
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
        (tmp_path / "xdg" / "memrepo").mkdir(parents=True)
        line = f"[judge]\ncommand = {json.dumps([str(path)])}\n"
        (tmp_path / "xdg" / "memrepo" / "config.toml").write_text(line)
    data = done(repo, "run", "--judge", "command")
    assert data["tokens"]["source"] == "approximate"
    assert data["tokens"]["total"] > 0
    assert data["cost_usd"] is None
    assert any("raised beds" in m.body for m in memories(repo).values())
    rows = {row["key"]: row for row in done(repo, "config", "show")["keys"]}
    assert rows["judge.command"]["from"].endswith(".git/config" if where == "clone" else ".toml")
    assert_sound(repo)


def test_the_question_is_on_stdin_and_in_no_argument(tmp_path: Path) -> None:
    path = program(tmp_path / "judge", "print(len(sys.argv), len(sys.stdin.read()) > 400_000)\n")
    assert ask(path, "x" * 400_000).text == "1 True\n"


def test_no_shell_reads_the_command(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "memrepo.judge.command", f"cat; touch {tmp_path}/made")
    answer = memrepo(repo, "run", "--judge", "command")
    assert answer.exit == 2
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("sys.stderr.write('x' * 5000 + ' out of credit')\nsys.exit(3)\n", "exit code 3: x"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", "exit code -15"),
    ],
)
def test_a_failing_program_is_told_with_the_end_of_its_stderr(
    tmp_path: Path, body: str, says: str
) -> None:
    with pytest.raises(JudgeFailed) as failed:
        ask(program(tmp_path / "judge", body))
    assert says in failed.value.message
    assert len(failed.value.message) < 700


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    body = """
    import subprocess
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    import time
    time.sleep(60)
    """
    with pytest.raises(JudgeFailed, match="no answer within 1 s"):
        ask(program(tmp_path / "judge", body), timeout_s=1)


def test_a_run_whose_program_fails_keeps_notes_and_exits_4(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "memrepo.judge.command", str(program(tmp_path / "j", "sys.exit(1)\n")))
    answer = memrepo(repo, "run", "--judge", "command")
    assert (answer.exit, answer.data["status"]) == (4, "partial")
    assert {m.is_note for m in memories(repo).values()} == {True}
    assert_sound(repo)


def test_a_missing_program_and_a_missing_setting_are_told_before_anything(repo: Path) -> None:
    with pytest.raises(CommandNotFound):
        Command(arguments=("no-such-program-here",), timeout_s=1)
    head = git(repo, "rev-parse", "HEAD")
    answer = memrepo(repo, "run", "--judge", "command")
    assert answer.exit == 2
    assert "git config memrepo.judge.command" in answer.error["fix"]
    assert git(repo, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("key", ['command = "cat"', 'base_url = "http://x"', 'recordings = "r"'])
def test_a_repository_cannot_choose_a_program_or_a_host(repo: Path, key: str) -> None:
    path = repo / "memrepo.toml"
    path.write_text(path.read_text().replace("[judge]", f"[judge]\n{key}"))
    answer = memrepo(repo, "run")
    assert answer.exit == 2
    assert "is not read from a repository" in answer.error["message"]
    assert "git config memrepo.judge." in answer.error["fix"]


def test_only_openclaw_is_given_the_question_as_an_argument() -> None:
    assert SYSTEM in READY["claude"]
    assert {name for name, words in READY.items() if PROMPT in words} == {"openclaw"}


ANSWER = '{"verdicts": []}'


@pytest.mark.parametrize("key", ENVELOPE)
def test_an_envelope_is_opened(key: str) -> None:
    assert unwrapped(json.dumps({"ok": True, "model": "m", key: ANSWER})) == ANSWER


OPENCLAW = """
import json
if sys.stdin.read() or sys.argv[1:6] != ["infer", "model", "run", "--json", "--prompt"]:
    raise SystemExit(9)
from serving import good
text = good(sys.argv[6])
print(json.dumps({"ok": True, "capability": "model.run", "transport": "local", "provider": "p",
                  "model": "m", "attempts": [], "outputs": [{"text": text, "mediaUrl": None}]}))
"""


def test_openclaw_gets_the_question_as_its_prompt_and_answers_in_outputs(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "openclaw", OPENCLAW)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    git(repo, "config", "memrepo.judge.command", "openclaw")
    data = done(repo, "run", "--judge", "command")
    assert data["counts"]["memories_new"] > 0
    assert_sound(repo)


def test_a_question_too_long_for_an_argument_costs_its_batch_only(tmp_path: Path) -> None:
    path = program(tmp_path / "judge", "print(len(sys.argv[1]))\n")
    judge = Command(arguments=(str(path), PROMPT), timeout_s=20)
    room = ARGUMENT_LIMIT - len(prompt("x").text.encode()) + 1
    assert judge.ask(prompt("x" * room)).text.strip() == str(ARGUMENT_LIMIT)
    with pytest.raises(BadReply, match="an argument has at most 131071"):
        judge.ask(prompt("x" * (room + 1)))
