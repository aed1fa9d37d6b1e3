from __future__ import annotations

import random
import re
import string
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core import secrets
from memrepo.core.secret_kinds import SWITCHED, Form, formed, forms, labelled
from memrepo.core.secrets import Secret, concealed, configure, find_secrets, redact

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
        *("password: @", "Password=@", "- **Password:** @", "- **Password**: @", "`passwd`: `@`"),
        *('api_key = "@"', "export DB_PASSWORD='@'", '{"access_token": "@"}', "WIFI Password: @"),
        *("client secret: @", "Passwort: @", "密码:@", "| password: @ |", "pwd: @\r"),
        *("the password is @ I think",),
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


def test_a_form_of_one_line_is_found_beside_lines_that_hold_no_word_of_it() -> None:
    lines = [
        *("It rains.", "ŞİFRE: kq8-Rt51x", "", "Our keys hang in the hall.", "pwd: zz7.Qp4ty", ""),
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


SEEDS = (
    *("a", "1", "-", " ", "sk-", "eyJ", "eyJabcdefgh.", "ghp_", "AKIA", "xoxb-", "password:"),
    *("password: ", "a://", "a:", "a://b:", "https://b:", "api_key=x", "123456789:", "a.b-c_"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----abc ", "|password|\n|---|\n"),
    *("is the PIN ", 'passphrase "', 'default="', "alarm: 1", "wifi a / "),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hostile_line_is_read_to_its_end(seed: str) -> None:
    # Only linear patterns come back from this within any patience.
    text = seed * (60_000 // len(seed)) + "\npassword: hunter2\n"
    assert redact(text)[0].endswith("\npassword: [redacted:password]\n")


@pytest.mark.parametrize("form", forms(), ids=lambda form: f"{form.kind}-{form.words[:1]}")
def test_every_repetition_of_a_form_is_bounded_or_possessive(form: Form) -> None:
    if form.words == ("-----begin",):
        return  # its lines end at the next `-----`; a hostile one is above
    plain = re.sub(r"\\.|\[\^?(?:\\.|[^\]\\])+\]", "x", form.spelled)
    repeated = re.findall(r"(\*|\+|\{\d+(?:,\d*)?\})([?+]?)", plain)
    unbounded = [sign for sign, how in repeated if sign[-2:] in ("*", "+", ",}") and how != "+"]
    assert unbounded == [], form.spelled


def test_every_character_that_shows_nothing_is_looked_through() -> None:
    key = "ghp_" + "FakeFakeFake1234FakeFakeFake5678Fake"
    unseen = [c for c in map(chr, range(0x80, 0x110000)) if unicodedata.category(c) == "Cf"]
    assert len(unseen) > 150
    missed = [c for c in unseen if not find_secrets(f"see {key[:9]}{c}{key[9:]} there")]
    assert missed == []


DICE = random.Random(7)


SETS = {
    "": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "lower": string.ascii_lowercase + string.digits,
    "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}


def filled(template: str) -> str:
    """Fill in made-up characters, with a digit and a letter among them."""

    def some(place: re.Match[str]) -> str:
        letters = SETS[place[2] or ""]
        body = "".join(DICE.choice(letters) for _ in range(int(place[1]) - 2))
        return f"{letters[3]}{body}{letters[-1]}"

    return re.sub(r"<(\d+) ?([a-z0-9]+)?>", some, template)


TABLE = tomllib.loads((Path(__file__).parents[1] / "data/secrets.toml").read_text("utf-8"))


GIVEN = {name: filled(template) for name, template in TABLE["given"].items()}


NAMED = {line: filled(template) for line, template in TABLE["named"].items()}


INNOCENT = [
    *TABLE["innocent"],
    *("AKIA" + "IOSFODNN7EXAMPLE", "task-" + A40),
    f"-----BEGIN PUBLIC KEY-----\n{B64}\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("line", ["@", "- the one: (@) is here", "KEY=@", "| x | `@` |", "知道@。"])
def test_a_providers_key_is_found_wherever_it_stands(name: str, line: str) -> None:
    text = line.replace("@", GIVEN[name])
    assert GIVEN[name] not in redact(text)[0]
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize("line", NAMED)
def test_a_value_that_is_named_is_found_and_the_words_around_it_stay(line: str) -> None:
    value = NAMED[line]
    text = line.replace("@", value)
    (found,) = find_secrets(f"# Notes\n{text}\nthe end\n")
    assert value.startswith(f"# Notes\n{text}\n"[found.start : found.end])
    assert found.end - found.start >= len(value) - 1  # a sign that ends the sentence may stay


@pytest.mark.parametrize(("text", "values"), [(text, values) for text, *values in TABLE["stated"]])
def test_a_secret_is_found_in_every_layout(text: str, values: list[str]) -> None:
    shown = redact(text)[0]
    assert [value for value in values if value in shown] == []
    assert "[redacted:unchecked]" not in shown


PIECES = [word for text, *_ in TABLE["stated"] for word in text.split(" ")] + INNOCENT
FUZZ = st.lists(
    st.sampled_from([*PIECES, "\n", " ", "-", "SN20260105001122-33", "İ", "<!-- -->", "%37", "|"])
    | st.text(max_size=8),
    max_size=14,
).map(" ".join)


@given(FUZZ)
def test_no_detector_fails_on_a_text(text: str) -> None:
    folded = text.replace("İ", "i").lower()
    found = [*formed(text, folded), *labelled(text, folded)]
    assert all(0 <= start < end <= len(text) for start, end, _ in found)


def test_a_detector_that_fails_costs_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
        if "boom" in text:
            raise ValueError(text)
        yield from labelled(text, folded)

    monkeypatch.setattr(secrets, "labelled", fail)
    shown, found = redact("a\npassword: hunter2x\nthe boom box\nb")
    assert shown == "a\npassword: [redacted:password]\n[redacted:unchecked]\nb"
    assert [(one.kind, one.line) for one in found] == [("password", 2), ("unchecked", 3)]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "hidden",
    [
        *("AK\u200bIA{0}", "A\u00adKIA{0}", "AKIA\u2060{0}\ufeff", "\uff21\uff2b\uff29\uff21{0}"),
        *("\u0410\u041aIA{0}", "\u202eAKIA{0}\u202c", "AKIA\U000e0041{0}"),
    ],
)
def test_what_nobody_sees_hides_no_key(hidden: str) -> None:
    rest = filled("<16 base32>")
    text = f"日本 the key {hidden.format(rest)} of Ana"
    shown, (found,) = redact(text)
    assert found.kind == "aws-access-token"
    assert rest not in shown.replace("\u200b", "")
    assert shown.startswith("日本 the key ")
    assert shown.endswith(" of Ana")


def test_what_an_owner_wants_to_remember_can_be_switched_off() -> None:
    texts = [line.replace("@", value) for line, value in NAMED.items()]
    assert all(find_secrets(text) for text in texts)
    try:
        configure(SWITCHED)
        kept = [line for line, value in NAMED.items() if not find_secrets(line.replace("@", value))]
    finally:
        configure(())
    assert kept == [
        line
        for line, value in NAMED.items()
        if {s.kind for s in find_secrets(line.replace("@", value))} <= set(SWITCHED)
    ]
    assert len(kept) == 9
    configure(["password"])
    assert find_secrets("password: hunter2x"), "what is never memory cannot be switched off"
    configure(())


APART = (
    ("The backup key for the lodge, printed on the sticker: ", "7KQ2-MX9V-P3LD-8WZT"),
    ("PUK for Mum's card ", "19283746"),
    ("digicode du portail ", "73A19"),
    ("BitLocker, recovery key ", "-".join(f"{n}18932" for n in range(1, 9))),
    ("DB_PASS: ", "cGFzc3dvcmQxMjM0" + "NTY3OA=="),
    ("## Hetzner API token (read and write, project shop, in May)\n\n", "q8ZrT2mNw5Kd7Lp1Xc4Vb9"),
    ("The hook is https://home.example.org/api/webhook/", "lights-9fKd82LmQpXz77Ab"),
    ("translator key: ", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9:fx"),
    ("app password for the mail program ", "qxkf-wznt-pvbm-hjrd"),
    ("wachtwoord ", "Zomer-XII-kaas"),
)


@pytest.mark.parametrize(("before", "value"), APART)
def test_a_value_that_looks_like_nothing_else_needs_no_sign(before: str, value: str) -> None:
    text, found = redact(f"{before}{value}, as of May.")
    assert value not in text
    assert text.startswith(before), found


def test_the_mark_of_a_fence_is_no_secret() -> None:
    mark = "9f86d081884c7d65"
    text = f"The tokens:\n\n<<<data {mark}\ntoken: 3kV9sQx0LmZ28RtYw71B\n{mark} data>>>\n"
    shown, found = redact(text)
    assert shown.count(mark) == 2
    assert [text[one.start : one.end] for one in found] == ["3kV9sQx0LmZ28RtYw71B"]
    assert redact(f"API token: {mark}")[1]


@pytest.mark.parametrize("pin", ["", "[pin]"])
def test_the_tag_of_a_line_of_the_first_page_is_no_secret(pin: str) -> None:
    line = f"- Never print passwords or API keys in answers ←mem-0d2b2ce18d717539{pin}"
    assert redact(line) == (line, ())
    assert redact("- The password ←mem-hunter2Secret99")[1]


def test_the_ids_of_a_record_of_a_run_are_no_secrets() -> None:
    blob = "11f6ad8ec52a2984abaafd7c3b516503785c2072"
    lines = f'{{"token": "{blob}",\n"password": "Zaun-Igel44x"}}'.encode()
    for folder, ids in (("runs/2026-11", []), ("sources/runs/2026-11", [blob])):
        found = [value for _, value in secrets.secrets_of(f"{folder}/a.json", lines)]
        assert found == [*ids, "Zaun-Igel44x"]
