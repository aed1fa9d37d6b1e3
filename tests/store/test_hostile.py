"""A person's settings, environment and file names change nothing about what is written."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import driving
import pytest
import standing
import workspaces
from driving import git

NOW = driving.LATER


def expected(repo: Path, scratch: Path) -> str:
    """Return the commit that an undisturbed copy comes to."""
    copy = Path(shutil.copytree(repo.parent, scratch / "calm", symlinks=True)) / "repo"
    driving.done(copy, "run", now=NOW)
    return git(copy, "rev-parse", "HEAD")


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


SETTINGS = """
core.autocrlf=true; core.autocrlf=input; core.eol=crlf; core.safecrlf=true; core.quotePath=true
core.precomposeUnicode=true; core.ignoreCase=true; core.splitIndex=true
core.untrackedCache=true; core.preloadIndex=false; core.checkStat=minimal; core.commentChar=M
core.logAllRefUpdates=false; core.abbrev=4; core.sparseCheckout=false; core.fileMode=false
core.bare=false; core.pager=false; index.version=4; feature.manyFiles=true
feature.experimental=true; merge.autostash=true; merge.ff=no; merge.ff=only; merge.stat=true
merge.renames=true; merge.log=true; merge.verifySignatures=true
branch.main.mergeOptions=--no-ff --no-commit; branch.main.mergeOptions=--squash
branch.main.mergeOptions=-s ours; branch.main.rebase=true; pull.rebase=true
rebase.autostash=true; diff.renames=copies; diff.noprefix=true; diff.ignoreSubmodules=all
diff.algorithm=patience; diff.mnemonicPrefix=true; diff.relative=true; diff.external=false
status.showUntrackedFiles=no; status.short=true; status.branch=true; status.relativePaths=true
status.showStash=true; status.renames=copies; status.aheadBehind=false
status.displayCommentPrefix=true; i18n.commitEncoding=latin1; i18n.logOutputEncoding=latin1
log.showSignature=true; log.decorate=full; log.date=relative; log.abbrevCommit=true
log.follow=true; log.mailmap=true; log.showRoot=false; log.diffMerges=combined
format.pretty=oneline; grep.patternType=fixed; grep.patternType=perl; grep.extendedRegexp=true
trailer.separators==; trailer.ifexists=replace; color.ui=always; column.ui=always
fastimport.unpackLimit=1; gc.auto=1; transfer.fsckObjects=true; checkout.workers=4
user.useConfigOnly=true; advice.detachedHead=false; apply.whitespace=error; diff.wordRegex=x
safe.bareRepository=explicit; submodule.recurse=true; push.default=nothing
"""


def batches() -> list[dict[str, str]]:
    """Gather the settings into as few sets as hold no key twice."""
    found: list[dict[str, str]] = []
    for setting in re.split(r"[;\n] ?", SETTINGS.strip()):
        key, _, value = setting.partition("=")
        for batch in found:
            if key not in batch:
                batch[key] = value
                break
        else:
            found.append({key: value})
    return found


@pytest.mark.parametrize("batch", batches(), ids=lambda batch: f"{len(batch)}")
def test_no_setting_changes_what_a_run_comes_to(
    repo: Path, tmp_path: Path, batch: dict[str, str]
) -> None:
    wanted = expected(repo, tmp_path)
    for key, value in batch.items():
        git(repo, "config", key, value)
    driving.done(repo, "run", now=NOW)
    assert git(repo, "rev-parse", "HEAD") == wanted
    found = driving.done(repo, "log", now=NOW)["entries"]
    assert [e["op"] for e in found] == ["run", "ingest", "run", "ingest", "init"]
    assert all(e["run"] for e in found if e["op"] == "run")
    assert git(repo, "diff", "--no-ext-diff", "--name-only", "HEAD") == ""
    driving.done(repo, "revert", now=NOW)
    assert standing.left_behind(repo) == []


HOOKS = """
pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit post-merge post-checkout
post-rewrite reference-transaction post-index-change pre-auto-gc fsmonitor-watchman pre-push update
post-update
""".split()


@pytest.mark.parametrize("where", ["hooks", "hooksPath"])
def test_no_hook_runs_and_none_can_stop_a_run(repo: Path, tmp_path: Path, where: str) -> None:
    folder = repo / ".git" / "hooks"
    if where == "hooksPath":
        folder = tmp_path / "hooks"
        git(repo, "config", "core.hooksPath", str(folder))
    wanted = expected(repo, tmp_path)
    for name in HOOKS:
        program(folder / name, f'echo "{name} $*" >> {tmp_path}/ran; exit 1')
    driving.done(repo, "run", now=NOW)
    driving.done(repo, "revert", now=NOW)
    assert git(repo, "rev-parse", "HEAD~") == wanted
    ran = (tmp_path / "ran").read_text() if (tmp_path / "ran").exists() else ""
    assert ran in ("", "pre-auto-gc \n", "pre-auto-gc \npre-auto-gc \n")


def test_without_a_name_and_address_everything_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repo = driving.begin(tmp_path, workspaces.small(tmp_path / "ws"))
    driving.done(repo, "revert", now=NOW)
    assert git(repo, "log", "-1", "--format=%an <%ae>") == "memrepo <memrepo@localhost>\n"


def test_variables_of_a_hook_do_not_mislead(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = expected(repo, tmp_path)
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "a.txt").write_text("a\n")
    git(other, "add", "a.txt")
    git(other, "commit", "-qm", "a")
    before = standing.prints(other)
    with monkeypatch.context() as patch:
        patch.setenv("GIT_DIR", str(other / ".git"))
        patch.setenv("GIT_WORK_TREE", str(other))
        patch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
        patch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
        patch.setenv("GIT_NAMESPACE", "x")
        patch.setenv("GIT_PREFIX", "x/")
        patch.setenv("GIT_ICASE_PATHSPECS", "1")
        driving.done(repo, "run", now=NOW)
    assert git(repo, "rev-parse", "HEAD") == wanted
    assert standing.prints(other) == before


NAMES = (
    "with space.md",
    "-dash.md",
    "--option.md",
    'quote".md',
    "apostrophe's.md",
    "back\\slash.md",
    "star*.md",
    "question?.md",
    "[class].md",
    ":(top)magic.md",
    "!bang.md",
    "#hash.md",
    "~tilde.md",
    "日記.md",
    "🚀.md",
    "e\u0301.md",
    "é.md",
    "a\u200db.md",
    "dollar$HOME.md",
    "semi;colon.md",
    "a" * 200 + ".md",
    "con.md",
    ".hidden.md",
    "percent%00.md",
    "tab\ttab.md",
)


def test_any_name_that_a_file_can_have_is_taken_in_or_refused_by_name(tmp_path: Path) -> None:
    files = {
        f"memory/{name}": f"# Notes {n}\n\n- Fact number {n} is about gardening.\n".encode()
        for n, name in enumerate(NAMES)
    }
    workspaces.write(tmp_path / "ws", files)
    driving.done(tmp_path, "init", "repo", "--from", "ws")
    repo = tmp_path / "repo"
    taken = set(git(repo, "ls-files", "-z", "sources").split("\0")) - {""}
    refused = driving.done(repo, "ingest", "--dry-run")["refused"]
    assert {f"sources/{name}" for name in files} - taken == {
        f"sources/memory/{n}" for n in NAMES if not n.isprintable()
    }
    assert [p["rule"] for p in refused] == ["source-name"] * 2
    driving.done(repo, "run", now=NOW)
    assert git(repo, "status", "--porcelain") == ""
    driving.done(repo, "status")
    driving.done(repo, "search", "gardening")
    driving.done(repo, "revert", now=NOW)
    assert git(repo, "status", "--porcelain") == ""


def test_a_linked_work_tree_is_written(repo: Path) -> None:
    side = repo.parent / "side"
    git(repo, "worktree", "add", "-q", "-b", "side", str(side))
    main = git(repo, "rev-parse", "main")
    driving.done(side, "run", now=NOW)
    assert git(repo, "rev-parse", "main") == main
    assert git(side, "status", "--porcelain") == ""
    assert git(repo, "status", "--porcelain") == ""


def test_a_crash_in_a_linked_work_tree_is_mended_there(repo: Path) -> None:
    import crashing

    side = repo.parent / "repo-side"
    git(repo, "worktree", "add", "-q", "-b", "side", str(side))

    def act() -> None:
        crashing.die_before("read-tree")
        crashing.command(side, "run", now=NOW)()

    driving.done(side, "ingest", now=NOW)
    assert crashing.fork(act) == crashing.KILLED
    before = git(side, "rev-parse", "side")
    # The main work tree goes on, and leaves alone what the other one still needs.
    driving.done(repo, "run", now="2026-03-01T11:10:00Z")
    assert git(side, "rev-parse", "side") == before
    driving.memrepo(side, "ingest", now=NOW)
    assert git(side, "rev-parse", "side") == before
    assert git(side, "status", "--porcelain") == ""


@pytest.mark.parametrize("target", ["file", "folder", "submodule"])
@pytest.mark.parametrize("area", ["memories/knowledge", "sources"])
def test_what_is_no_file_in_the_tree_is_a_problem_and_never_followed(
    repo: Path, area: str, target: str
) -> None:
    outside = repo.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("- zqlinked is outside.\n")
    path = f"{area}/link.md"
    if target == "submodule":
        commit = git(repo, "rev-parse", "HEAD").strip()
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        (repo / path).mkdir()
    else:
        (repo / path).symlink_to(outside / "secret.md" if target == "file" else outside)
        git(repo, "add", "-A")
    git(repo, "commit", "-qm", "no file")
    status = driving.done(repo, "status")
    assert [(p["path"], p["rule"]) for p in status["problems"]] == [(path, "tree-not-a-file")]
    driving.done(repo, "run", now=NOW)
    assert git(repo, "grep", "-l", "zqlinked", "HEAD", "--", "memories", check=False) == ""
    assert (repo / path).is_symlink() == (target != "submodule")


@pytest.mark.parametrize("where", ["sources", "sources/inbox", "sources/inbox/a.md"])
def test_a_link_in_the_work_tree_is_never_read_through(repo: Path, where: str) -> None:
    driving.done(repo, "ingest", now=NOW)
    outside = repo.parent / "outside"
    (outside / "inbox").mkdir(parents=True)
    for name in ("a.md", "inbox/a.md"):
        (outside / name).write_text("- zqlinked is outside.\n")
    path = repo / where
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / "a.md" if where.endswith(".md") else outside)
    done = driving.done(repo, "ingest", now=NOW)
    assert [p["rule"] for p in done["refused"]] == ["source-not-a-file"]
    assert done["removed"] == []
    assert done["commit"] == ""
