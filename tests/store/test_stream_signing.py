"""Signed merges, with real keys: gpg in a home of its own, and ssh-keygen."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import standing
from driving import LATER, NEXT_DAY, assert_sound, done, git, memrepo

PERSON = "Test Person <person@example.org>"


@pytest.fixture(params=["openpgp", "ssh"])
def signing(request: pytest.FixtureRequest, repo: Path, tmp_path: Path) -> Iterator[Path]:
    """Return a repository in which commits are to be signed, with a key that can."""
    git(repo, "config", "commit.gpgSign", "true")
    if request.param == "ssh":
        _ssh(repo, tmp_path)
        yield repo
        return
    if shutil.which("gpg") is None:
        pytest.skip("there is no gpg here")
    # A socket's path must be short, and gpg's agent lives in its home.
    with tempfile.TemporaryDirectory(prefix="g") as home, pytest.MonkeyPatch.context() as p:
        p.setenv("GNUPGHOME", home)
        made = subprocess.run(
            [
                "gpg",
                "--batch",
                "--quiet",
                "--passphrase",
                "",
                "--quick-gen-key",
                PERSON,
                "ed25519",
                "sign",
                "never",
            ],
            capture_output=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"gpg makes no key here: {made.stderr.decode()[-200:]}")
        yield repo
        subprocess.run(["gpgconf", "--kill", "all"], capture_output=True, check=False)


def _ssh(repo: Path, folder: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen here")
    key = folder / "key"
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(key)]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("ssh-keygen makes no key here")
    allowed = folder / "allowed"
    allowed.write_text(f"person@example.org {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(allowed)),
    ):
        git(repo, "config", name, value)


def check(repo: Path, name: str) -> dict[str, object]:
    found = memrepo(repo, "doctor").data["checks"]
    return next(c for c in found if c["name"] == name)


def test_the_merge_of_a_run_is_signed_and_verified(signing: Path) -> None:
    done(signing, "run", now=LATER)
    verdict, tree, second = git(signing, "log", "-1", "--format=%G?%n%T%n%P").split("\n")[:3]
    assert verdict in "GU"
    assert git(signing, "rev-parse", f"{second.split()[1]}^{{tree}}").strip() == tree
    names = git(signing, "log", "-1", "--format=%an|%cn|%s").split("|")
    assert names[:2] == ["memrepo run", "Test Person"]
    assert names[2].startswith("Run ")
    assert_sound(signing)
    assert check(signing, "signatures")["ok"] is True


def test_a_signer_that_fails_is_exit_5_and_nothing_is_written(repo: Path) -> None:
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", "gpg.program", "/bin/false")
    done(repo, "ingest", now=LATER)
    before = standing.prints(repo)
    answer = memrepo(repo, "run", now=LATER)
    assert answer.exit == 5
    assert "commit.gpgSign" in answer.error["message"]
    assert standing.prints(repo) == before
    git(repo, "config", "commit.gpgSign", "false")
    assert done(repo, "run", now=LATER)["status"] == "ok"
    assert_sound(repo)


TWICE = """#!/bin/sh
cat > /dev/null
echo >> "$0.used"
if [ "$(wc -l < "$0.used")" -gt 2 ]; then exit 2; fi
printf '\\n[GNUPG:] SIG_CREATED D 1 8 00 0 0\\n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'
"""


def test_a_signer_that_fails_at_the_merge_leaves_nothing_of_the_run(
    repo: Path, tmp_path: Path
) -> None:
    done(repo, "run", now=LATER)
    signer = tmp_path / "signer"
    signer.write_text(TWICE)
    signer.chmod(0o755)
    memory = next((repo / "memories").rglob("*.md"))
    memory.write_text(f"{memory.read_text().rstrip()} Still.\n")
    git(repo, "commit", "-qam", "by hand", "--no-verify")
    claims = repo.parent / "ws/MEMORY.md"
    claims.write_text(f"{claims.read_text()}\n- The anvil stands under the oak.\n")
    inbox = repo / "sources/inbox/note.md"
    inbox.parent.mkdir(parents=True, exist_ok=True)
    inbox.write_text("- The loom is older than the anvil.\n")
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", "gpg.program", str(signer))
    before = standing.prints(repo)
    answer = memrepo(repo, "run", now=NEXT_DAY)
    assert answer.exit == 5
    assert Path(f"{signer}.used").read_text() == "\n" * 3  # edits, sources, then the merge
    assert standing.prints(repo) == before
    assert standing.left_behind(repo) == []
    git(repo, "config", "commit.gpgSign", "false")
    assert done(repo, "run", now=NEXT_DAY)["status"] == "ok"
    assert "sources/inbox/note.md" in git(repo, "ls-files")
    assert_sound(repo)
