from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.secrets import Secret, concealed, find_secrets, redact

# Assembled at run time, so that no scanner takes this file for a leak.
A40 = "aB3" * 13 + "c"
B64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{B64}\n{B64}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("private-key", PEM),
        ("private-key", PEM.replace("RSA ", "").replace("\n", "\r\n")),
        ("private-key", f"-----BEGIN PRIVATE KEY-----\n{B64}"),
        ("private-key", PEM.replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)),
        ("aws-access-token", "AKIA" + "Q3EGRIJ5KLMN7OPX"),
        ("github-pat", "ghp_" + A40[:36]),
        ("github-oauth", "gho_" + A40[:36]),
        ("github-app-token", "ghs_" + A40[:36]),
        ("github-fine-grained-pat", "github_pat_" + A40 + A40 + "ab"),
        ("slack-token", "xoxb-" + "1234567890-abcdef"),
        ("slack-webhook", "https://hooks.slack.com/" + "services/T0000/B0000/abcdefghij"),
        ("gcp-api-key", "AIza" + A40[:35]),
        ("openai-key", "sk-" + A40),
        ("openai-key", "sk-proj-" + A40),
        ("anthropic-key", "sk-ant-" + "api03-" + A40),
        ("telegram-bot-token", "123456789:" + A40[:35]),
        ("stripe-key", "sk_live_" + A40[:24]),
        ("jwt", "eyJ" + "hbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM"),
    ],
)
def test_each_kind_is_found_where_it_stands(kind: str, value: str) -> None:
    text = f"# Keys\nthe one: ({value}) is here\n"
    assert find_secrets(text) == (
        Secret(kind=kind, start=17, end=17 + len(value), line=2, column=11),
    )
    assert redact(text)[0] == f"# Keys\nthe one: ([redacted:{kind}]) is here\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("postgres://bob:hunter2@db.local/x", "hunter2"),
        ("redis://:s3cret9@db:6379", "s3cret9"),
        ("https://bob:p:w;d1@host", "p:w;d1"),
    ],
)
def test_credentials_in_a_url_are_found(text: str, value: str) -> None:
    (found,) = find_secrets(f"see {text} now")
    assert (found.kind, text[found.start - 4 : found.end - 4]) == ("url-credentials", value)


@pytest.mark.parametrize(
    "line",
    [
        "password: @",
        "Password=@",
        "- **Password:** @",
        "- **Password**: @",
        "`passwd`: `@`",
        'api_key = "@"',
        "export DB_PASSWORD='@'",
        '{"access_token": "@"}',
        "WIFI Password: @",
        "client secret: @",
        "Passwort: @",
        "密码:@",
        "| password: @ |",
        "pwd: @\r",
        "the password is @ I think",
    ],
)
def test_a_password_assignment_is_found(line: str) -> None:
    text = line.replace("@", "hunter2")
    (found,) = find_secrets(text)
    kind = (
        "token"
        if any(word in line for word in ("api_key", "access_token", "client"))
        else "password"
    )
    assert (found.kind, text[found.start : found.end]) == (kind, "hunter2")
    assert redact(text)[0] == line.replace("@", f"[redacted:{kind}]")


@pytest.mark.parametrize(
    "text",
    [
        "password: ask Bob",
        "password: required",
        "password: short",
        "the password is secret I think",
        "password: <your password>",
        "password: ********",
        "password: xxxxxxxx",
        "password: changeme",
        "password: example123",
        "password: {{ vault.pw }}",
        "password: ${DB_PASS1}",
        "password = os.environ",
        "password = getpass()",
        "api_key: ANTHROPIC_API_KEY",
        "password: ~/.secrets/pw1",
        "password: op://vault/item1",
        "password: [redacted:password]",
        "postgres://user:password@localhost",
        "postgres://user:[redacted:url-credentials]@localhost",
        "http://localhost:3000/@bob",
        "git@github.com:bob/repo.git",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-learn-is-a-library-for-people",
        "task-" + A40,
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + B64 + "\n-----END PUBLIC KEY-----",
        "123e4567-e89b-12d3-a456-426614174000",
        "d41d8cd98f00b204e9800998ecf8427e",
        "chat 1234567890:30",
        "2026-02-07 10:30:00",
    ],
)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert find_secrets(text) == ()
    assert redact(text) == (text, ())


def test_a_form_of_one_line_is_found_beside_lines_that_hold_no_word_of_it() -> None:
    lines = [
        "It rains.",
        "ŞİFRE: kq8-Rt51x",
        "",
        "Our keys hang in the hall.",
        "pwd: zz7.Qp4ty",
        "",
    ]
    found = find_secrets("\r\n".join(lines))
    assert [(one.kind, one.line, one.column) for one in found] == [
        ("password", 2, 8),
        ("password", 5, 6),
    ]


def test_the_value_is_in_no_record() -> None:
    assert "hunter2" not in repr(find_secrets("password: hunter2"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (
            {"a": ["It is hunter2x here"], "b": "password: hunter2x", "n": 3},
            {"a": ["It is [redacted:password] here"], "b": "password: [redacted:password]", "n": 3},
        ),
        (
            ["ftp://u:abc@host", "0abc1", "abc"],
            ["ftp://u:[redacted:url-credentials]@host", "0abc1", "[redacted:url-credentials]"],
        ),
        (
            {"key": "Password", "value": "hunter2x", "text": "so hunter2x"},
            {"key": "Password", "value": "[redacted:password]", "text": "so [redacted:password]"},
        ),
        (("a", None, {"b": 1}), ("a", None, {"b": 1})),
        ("one -" + PEM, "one -[redacted:private-key]"),
    ],
)
def test_what_is_a_secret_in_one_text_is_shown_in_none(value: object, shown: object) -> None:
    assert concealed(value) == shown


PARTS = st.sampled_from(
    [
        "password",
        "api_key",
        ":",
        "=",
        " ",
        "\n",
        '"',
        "**",
        "hunter2",
        "s3cret-thing",
        "[",
        "]",
        "http://",
        "bob:",
        "@host",
        PEM,
        PEM[:40],
        B64,
        "sk-",
        "ghp_" + A40[:36],
        A40,
        "AKIA",
        "xoxb-",
        "eyJhbGciOiJI",
        ".",
        "123456789:",
        "-----",
        "redacted:",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
    ]
)


@given(st.lists(PARTS, max_size=20).map("".join) | st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once, found = redact(text)
    assert redact(once) == (once, ())
    assert bool(found) == (once != text)


@pytest.mark.parametrize(
    "seed",
    [
        "a",
        "1",
        "-",
        " ",
        "sk-",
        "eyJ",
        "eyJabcdefgh.",
        "ghp_",
        "AKIA",
        "xoxb-",
        "password:",
        "password: ",
        "a://",
        "a:",
        "a://b:",
        "https://b:",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----abc ",
        "api_key=x",
        "123456789:",
        "a.b-c_",
    ],
)
def test_a_hostile_line_is_read_to_its_end(seed: str) -> None:
    # Only linear patterns come back from this within any patience.
    text = seed * (300_000 // len(seed)) + "\npassword: hunter2\n"
    assert redact(text)[0].endswith("\npassword: [redacted:password]\n")


def test_every_character_that_shows_nothing_is_looked_through() -> None:
    key = "ghp_" + "FakeFakeFake1234FakeFakeFake5678Fake"
    unseen = [c for c in map(chr, range(0x80, 0x110000)) if unicodedata.category(c) == "Cf"]
    assert len(unseen) > 150
    missed = [c for c in unseen if not find_secrets(f"see {key[:9]}{c}{key[9:]} there")]
    assert missed == []
