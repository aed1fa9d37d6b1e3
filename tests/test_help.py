"""Pages of help: of a command, and as the JSON Schema of what it answers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from driving import begin, done, memrepo
from mornings import MORNING, copied, waiting

from memrepo.actions.verbs import VERBS
from memrepo.faces.cli.help import SHELLS, do, page, results, schema
from memrepo.faces.cli.parser import COMMANDS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository in which a run waits."""
    return waiting(tmp_path_factory.mktemp("help"))


@pytest.fixture(scope="module")
def repo(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of it, for all answers."""
    return copied(made, tmp_path_factory.mktemp("help") / "base")


ANSWERED = """\
status
doctor --quick
config
config run.judge
ingest --dry-run
run --dry-run
run --estimate
schedule show
report
report --chat
search hermes
search hermes --explain
search mail server hermes --layered
show ID
show ID --explain
related ID
thread
topics
why ID
why ID --show history
log
log --op run
log --runs
diff
diff --stat
accept --dry-run
discard --dry-run
resolve
reject --list
reject ID --dry-run --reason said
add sometext --dry-run
add sometext
supersede ID other --dry-run
confirm ID --dry-run
confirm ID
edit ID --text other --dry-run
edit ID --text other
forget ID --dry-run
pin ID
promote ID
link ID related ID2
archive ID --dry-run
undo --dry-run
revert RUN --dry-run
session show
session start
session end
nominate
tiers
decay stats
decay prune --dry-run
health
export jsonl ../out
check
check --all
hooks status
hooks install
agent install generic --dry-run
completion bash
""".splitlines()


@pytest.mark.parametrize("line", ANSWERED)
def test_an_answer_is_what_its_schema_says(repo: Path, line: str) -> None:
    hits = done(repo, "search", "Debian tea", "hermes", now=MORNING)["hits"]
    run = done(repo, "log", "--runs", now=MORNING)["runs"][-1]["run"]
    named = {"ID": hits[0]["id"], "ID2": hits[-1]["id"], "RUN": run}
    words = [named.get(word, word) for word in line.split()]
    answer = memrepo(repo, *words, now=MORNING)
    assert answer.out, answer.err
    holds(words[0], answer.data)


def holds(name: str, answer: dict[str, Any]) -> None:
    """Hold an answer against its schema, which names each of its keys."""
    told = json.loads(page(["--schema", name]))
    jsonschema.Draft202012Validator.check_schema(told)
    jsonschema.validate(answer, told)
    keys = [set(told["$defs"][r["$ref"].rpartition("/")[2]]["properties"]) for r in told["anyOf"]]
    assert any(set(answer) <= known for known in keys), set(answer)


def test_a_wrong_answer_is_not_what_the_schema_says(repo: Path) -> None:
    answer = done(repo, "status", now=MORNING)
    for wrong in ({"memories": 3}, {"schema_version": 2}, {"budgets": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**answer, **wrong}, schema("status"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({k: v for k, v in answer.items() if k != "branch"}, schema("status"))


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_has_a_schema_that_names_its_results(name: str) -> None:
    told = schema(name)
    jsonschema.Draft202012Validator.check_schema(told)
    assert len(told["anyOf"]) == len(results(name)) >= 1


def test_help_of_a_command_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = memrepo(tmp_path, "help", "search", as_json=False)
    assert said.out.startswith("usage: memrepo search")
    assert "did you mean search?" in memrepo(tmp_path, "help", "serach", as_json=False).err
    assert memrepo(tmp_path, "help", "--what", as_json=False).exit == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("mem-{}", "mem-"), ("the-bread-oven-is-in-the-yrad", "the-bread-oven-is-in-the-yard")],
)
def test_a_mistyped_id_or_slug_is_answered_with_the_near_one(
    tmp_path: Path, typed: str, meant: str
) -> None:
    (tmp_path / "ws").mkdir()
    repo = begin(tmp_path, tmp_path / "ws")
    id_ = done(repo, "add", "The bread oven is in the yard.")["id"]
    digits = id_[4:9] + ("0" if id_[9] != "0" else "1")
    failed = memrepo(repo, "show", typed.format(digits), as_json=False)
    assert failed.exit == 2
    assert f"did you mean {id_ if meant == 'mem-' else meant}" in failed.err


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_completes_every_command(shell: str) -> None:
    request = COMMANDS["completion"].load().Request(shell=shell)
    script = do(None, request).script  # type: ignore[arg-type]
    assert [name for name in COMMANDS if name not in script] == []
    if program := shutil.which(shell):
        checked = subprocess.run([program, "-n"], input=script.encode(), capture_output=True)
        assert checked.returncode == 0, checked.stderr
