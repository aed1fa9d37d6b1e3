"""A table of the shapes of secrets, assembled at run time: no scanner takes it for a leak."""

from __future__ import annotations

import random
import string

import pytest

from memrepo.core.secret_kinds import SWITCHED
from memrepo.core.secrets import find_secrets, redact, switch_off

DICE = random.Random(7)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
LOWER = string.ascii_lowercase + string.digits


def some(count: int, letters: str = ALNUM) -> str:
    """Return made-up characters, with a digit and a letter among them."""
    body = "".join(DICE.choice(letters) for _ in range(count - 2))
    return f"{letters[3]}{body}{letters[-1]}"


GIVEN = {
    "resend": "re_" + some(8) + "_" + some(24),
    "clojars": "CLOJARS_" + some(60, LOWER),
    "nuget": "oy2" + some(43, LOWER),
    "neon": "napi_" + some(64, LOWER),
    "bitbucket": "ATBB" + some(32),
    "posthog": "phx_" + some(43),
    "honeycomb": "hcaik_" + some(60, LOWER),
    "1password service": "ops_eyJ" + some(260),
    "1password account": "A3-" + "-".join(some(n, UPPER) for n in (6, 11, 5, 5, 5)),
    "infracost": "ico-" + some(32),
    "prefect": "pnu_" + some(36, LOWER),
    "readme": "rdme_" + some(70, LOWER),
    "fireworks": "fw_" + some(24),
    "cerebras": "csk-" + some(48, LOWER),
    "nvidia": "nvapi-" + some(64),
    "e2b": "e2b_" + some(40, HEX),
    "apify": "apify_api_" + some(36),
    "sourcegraph": "sgp_" + some(16, HEX) + "_" + some(40, HEX),
    "flutterwave": "FLWSECK-" + some(32) + "-X",
    "razorpay": "rzp_live_" + some(14),
    "plaid": "access-production-" + "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12)),
    "shippo": "shippo_live_" + some(40, HEX),
    "easypost": "EZAK" + some(54),
    "lob": "live_" + some(35, HEX),
    "duffel": "duffel_live_" + some(43),
    "frame.io": "fio-u-" + some(64),
    "typeform": "tfp_" + some(59),
    "scalingo": "tk-us-" + some(48),
    "settlemint": "sm_pat_" + some(16),
    "openshift": "sha256~" + some(43),
    "buildkite": "bkua_" + some(40, HEX),
    "circleci": "CCIPAT_" + some(22) + "_" + some(40, HEX),
    "harness": "pat." + some(22) + "." + some(24, HEX) + "." + some(20),
    "octopus": "API-" + some(26, UPPER),
    "yandex": "t1." + some(7) + "." + some(86),
    "mapbox": "sk.eyJ" + some(60) + "." + some(22),
    "contentful": "CFPAT-" + some(43),
    "n8n": "n8n_api_" + some(40, HEX),
    "sonar": "squ_" + some(40, HEX),
    "maxmind": some(6) + "_" + some(29) + "_mmk",
    "cursor": "crsr_" + some(64, HEX),
    "together": "tgp_v1_" + some(43),
    "azure devops": some(76) + "AZDO" + some(4),
    "zapier": "https://hooks.zapier.com/hooks/catch/1234567/" + some(7, LOWER),
    "aws": "AKIA" + some(16, BASE32),
    "aws session": "ASIA" + some(16, BASE32),
    "alibaba": "LTAI" + some(20),
    "tencent": "AKID" + some(32),
    "github classic": "ghp_" + some(36),
    "github oauth": "gho_" + some(36),
    "github app": "ghs_" + some(36),
    "github fine": "github_pat_" + some(22) + "_" + some(59),
    "gitlab": "glpat-" + some(20),
    "gitlab routable": "glpat-" + some(27) + ".01." + some(9),
    "gitlab runner": "glrt-" + some(20),
    "gitlab trigger": "glptt-" + some(40, HEX),
    "npm": "npm_" + some(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + some(90),
    "rubygems": "rubygems_" + some(48, HEX),
    "crates": "cio" + some(32),
    "docker": "dckr_pat_" + some(27),
    "slack bot": "xoxb-" + "12345678901-1234567890123-" + some(24),
    "slack user": "xoxp-" + "12345678901-" + some(24),
    "slack app": "xapp-1-" + some(11, UPPER) + "-1234567890123-" + some(64, HEX),
    "slack hook": "https://hooks.slack.com/services/T" + some(8, UPPER) + "/B" + some(24),
    "discord hook": "https://discord.com/api/webhooks/123456789012345678/" + some(68),
    "discord bot": "M" + some(25) + "." + some(6) + "." + some(38),
    "google": "AIza" + some(35),
    "google client": "GOCSPX-" + some(28),
    "google access": "ya29." + some(60),
    "google refresh": "1//0" + some(60),
    "anthropic": "sk-ant-api03-" + some(93),
    "openai": "sk-" + some(48),
    "openai project": "sk-proj-" + some(60),
    "openrouter": "sk-or-v1-" + some(64, HEX),
    "deepseek": "sk-" + some(32, HEX),
    "hugging face": "hf_" + some(34),
    "groq": "gsk_" + some(52),
    "xai": "xai-" + some(80),
    "perplexity": "pplx-" + some(48),
    "replicate": "r8_" + some(37),
    "langsmith": "lsv2_pt_" + some(32, HEX) + "_" + some(10, HEX),
    "tavily": "tvly-" + some(32),
    "elevenlabs": "sk_" + some(48, HEX),
    "pinecone": "pcsk_" + some(60),
    "firecrawl": "fc-" + some(32, HEX),
    "stripe": "sk_live_" + some(24),
    "stripe test": "sk_test_" + some(24),
    "stripe restricted": "rk_live_" + some(24),
    "stripe hook": "whsec_" + some(32),
    "square": "sq0csp-" + some(43),
    "shopify": "shpat_" + some(32, HEX),
    "sendgrid": "SG." + some(22) + "." + some(43),
    "mailgun": "key-" + some(32, HEX),
    "mailchimp": some(32, HEX) + "-us12",
    "brevo": "xkeysib-" + some(64, HEX) + "-" + some(16),
    "twilio": "SK" + some(32, HEX),
    "telegram": "123456789:" + some(35),
    "facebook": "EAA" + some(120),
    "twitter": "A" * 22 + some(80),
    "digitalocean": "dop_v1_" + some(64, HEX),
    "heroku": "HRKU-" + some(60),
    "netlify": "nfp_" + some(40),
    "vercel": "vercel_blob_rw_" + some(16) + "_" + some(30),
    "fly": "fo1_" + some(43),
    "supabase": "sbp_" + some(40, HEX),
    "supabase secret": "sb_secret_" + some(31),
    "planetscale": "pscale_tkn_" + some(43),
    "databricks": "dapi" + some(32, HEX),
    "vault": "hvs." + some(90),
    "terraform": some(14) + ".atlasv1." + some(67),
    "pulumi": "pul-" + some(40, HEX),
    "doppler": "dp.st.dev." + some(43),
    "tailscale": "tskey-auth-" + some(12) + "CNTRL-" + some(32),
    "new relic": "NRAK-" + some(27, UPPER),
    "grafana": "glsa_" + some(32) + "_" + some(8, HEX),
    "grafana cloud": "glc_" + some(80),
    "sentry": "sntrys_" + some(100),
    "dynatrace": "dt0c01." + some(24, UPPER) + "." + some(64, UPPER),
    "postman": "PMAK-" + some(24, HEX) + "-" + some(34, HEX),
    "linear": "lin_api_" + some(40),
    "notion": "ntn_" + some(46),
    "atlassian": "ATATT3xFfGF0" + some(180),
    "airtable": "pat" + some(14) + "." + some(64, HEX),
    "hubspot": "pat-na1-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
    "figma": "figd_" + some(40),
    "dropbox": "sl." + some(130),
    "artifactory": "AKCp" + some(69),
    "azure client": some(3) + "8Q~" + some(34),
    "age": "AGE-SECRET-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "wallet": "xprv" + some(107, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
    "jwt": "eyJ" + some(20) + ".eyJ" + some(30) + "." + some(43),
}
"""What is a secret wherever it stands."""

SAID = {
    "The Wi-Fi password is @.": "Tr0ub4dor&3",
    "password for the router is @, I think": "hunter2x",
    "My password was changed to @ today": "Gr33n-Apple",
    "Das Passwort lautet @": "Sommer2024!",
    "Das Kennwort für das WLAN ist @": "blau3sMeer",
    "Passwort für den Router: @": "Ahorn!1998",
    "Kennwort (Gast-WLAN): @": "Ahorn1998x",
    "password of the **NAS**: @, says Ana": "hunter2x",
    "Senha do roteador = `@`": "cafe-1234-leite",
    "mot de passe pour la box : @": "Soleil*99",
    "Router PW: @": "Ahorn!1998",
    "mdp wifi = rien, mdp: @": "Soleil99x",
    "La contraseña es @": "Verano#2024",
    "A senha do Wi-Fi é @": "cafe1234",
    "Le mot de passe est @": "Soleil*99",
    "La password del Wi-Fi è @": "Girasole7x",
    "Пароль: @": "Tayga2024x",
    "пароль это @": "Tayga2024x",
    "密码：@": "abc12345",
    "密码是@": "abc12345",
    "パスワードは@です": "sakura99x",
    "비밀번호: @": "hanguk88x",
    "| password | @ |": "Tr0ub4dor&3",
    "| **API key** | `@` |": "f3a9c07b5512",
    "Authorization: Bearer @": "9f86d081884c7d659a2feaa0c55ad015",
    'curl -H "Authorization: token @"': "9f86d081884c7d659a2feaa0c55ad015",
    "machine git.test login ana password @": "Rain-4-Days",
    "mysql -u root -p@ shop": "R00tRoot",
    "curl -u ana:@ https://h.test": "s3cretpw",
    "sshpass -p @ ssh h.test": "s3cretpw",
    "deploy --token=@": "f3a9c07b5512",
    "Server=db;User Id=sa;Password=@;": "Sa#12345",
    "DefaultEndpointsProtocol=https;AccountKey=@": some(86) + "==",
    "GITHUB_TOKEN=@": "9f86d081884c7d659a2feaa0c55ad015",
    "app_secret: @": "9f86d081884c7d659a2feaa0c55ad015",
    "private key: @": "0x" + some(64, HEX),
    "aws_secret_access_key = @": some(40),
    "TOTP secret: @": "JBSWY3DPEHPK3PXPJBSWY3DP",
    "otpauth://totp/Shop:ana?secret=@&issuer=Shop": "JBSWY3DPEHPK3PXPJBSWY3DP",
    "Seed phrase: @": "army van defense carry jealous true garbage claim echo media make crunch",
    "Her card is @ until May": "4012 8888 8888 1881",
    "visa @": "4012888888881881",
    "CVV: @": "731",
    "the key of the safe in a form: password: @": "<Maple7731>",
    "amex @": "3782 822463 10005",
    "IBAN: @": "DE89 3704 0044 0532 0130 00",
    "his account is @": "GB82WEST12345698765432",
}
"""What the words before it name: the text with an @ for the secret, and the secret."""

INNOCENT = [
    '"apiKey": "ТВОЙ_API_KEY"',
    '"OPENAI_API_KEY": "sk-or-v1-твой-ключ"',
    "login --token NEW_TOKEN",
    "session key: agent:main:chat:1466532593754312899",
    "the model is openai/gpt-5.4 and the key is your key",
    "error: invalid_grant, so the token is expired",
    "token: openai/gpt-5.4-mini-2026",
    "secret: stored in ~/.config/app/secret.json",
    "the password is stored in the vault",
    "the password is required for admins.",
    "password for the wiki is unchanged since 2024-01-01",
    "The API key is missing, ask Ana",
    "api key is rotated every 90 days",
    "| password | required |",
    "| API key | see 1Password |",
    "Bearer token authentication is used everywhere",
    "Authorization: Bearer <token>",
    "access token = response.json()",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "session 123e4567-e89b-12d3-a456-426614174000",
    "channel 1472974111864000664, guild 1386883635378126960",
    "order 4111 1111 1111 1112 was sent",
    "phone +49 30 1234 5678 9012 3456",
    "serial 1234 5678 9012 3456",
    "the card expires in 2027 and 30 days later",
    "GB82 TEST 1234 5698 7654 33 is no account",
    "recovery phrase: ask the owner of the safe, who keeps it on paper in a drawer somewhere",
    "2FA code: ask Ana on her phone",
    "sk-learn-is-a-library-for-people-who-like-2-things",
    "key-value-store-with-32-partitions",
    "s.th.like.this and s.ThatIsNoTokenOfAnyVault",
    "npm_config_cache=~/.npm",
    "hf_transfer and hf_hub_download are functions",
    "export GITHUB_TOKEN=$(gh auth token)",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "the secret of good bread: patience and 3 foldings",
    "token limit: 200000 tokens, secret santa: 2026-12-24",
    "tokens: 1_234_567_890_123_456",
    "tokens = {'refresh_token':data['access_token2'],'kind':data['k']}",
    "mysql -u root shop and curl -u ana https://h.test",
    "password for admins: see the vault, password of the wiki: unchanged",
    "Passwords (for staff): rotated every 90 days by Ana",
    "pw: ask Ana",
    "pass: the exam was passed by Ana in 2026",
    "password: 密码 see the note",
    "login with your account, password reset by mail",
    "run `./config.sh --url https://h.test --token REG_TOKEN` there",
    "PR #123 merged by a/b-c_d in repo-name-with-parts-2026",
]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("line", ["@", "- the one: (@) is here", "KEY=@", "| x | `@` |", "知道@。"])
def test_a_providers_key_is_found_wherever_it_stands(name: str, line: str) -> None:
    text = line.replace("@", GIVEN[name])
    assert GIVEN[name] not in redact(text)[0]
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize("line", SAID)
def test_a_value_that_is_named_is_found_and_the_words_around_it_stay(line: str) -> None:
    value = SAID[line]
    text = line.replace("@", value)
    (found,) = find_secrets(f"# Notes\n{text}\nthe end\n")
    assert value.startswith(f"# Notes\n{text}\n"[found.start : found.end])
    assert found.end - found.start >= len(value) - 1  # a sign that ends the sentence may stay


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "hidden",
    [
        "AK\u200bIA{0}",
        "A\u00adKIA{0}",
        "AKIA\u2060{0}\ufeff",
        "\uff21\uff2b\uff29\uff21{0}",
        "\u0410\u041aIA{0}",
        "\u202eAKIA{0}\u202c",
        "AKIA\U000e0041{0}",
    ],
)
def test_what_nobody_sees_hides_no_key(hidden: str) -> None:
    rest = some(16, BASE32)
    text = f"日本 the key {hidden.format(rest)} of Ana"
    shown, (found,) = redact(text)
    assert found.kind == "aws-access-token"
    assert rest not in shown.replace("\u200b", "")
    assert shown.startswith("日本 the key ")
    assert shown.endswith(" of Ana")


def test_what_an_owner_wants_to_remember_can_be_switched_off() -> None:
    texts = [line.replace("@", value) for line, value in SAID.items()]
    assert all(find_secrets(text) for text in texts)
    try:
        switch_off(SWITCHED)
        kept = [line for line, value in SAID.items() if not find_secrets(line.replace("@", value))]
    finally:
        switch_off(())
    assert kept == [
        line
        for line, value in SAID.items()
        if {s.kind for s in find_secrets(line.replace("@", value))} <= set(SWITCHED)
    ]
    assert len(kept) == 9
    switch_off(["password"])
    assert find_secrets("password: hunter2x"), "what is never memory cannot be switched off"
    switch_off(())
