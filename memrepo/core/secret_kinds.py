"""The forms of secrets: what a text must hold one of to be looked at, and the pattern.

Forms of providers are published by them, and are all but certain: a prefix of their own and an
exact alphabet. The others are named by the words before them, in ten languages, and their value is
looked at (`core.secrets`). Every pattern is linear: runs are bounded, or possessive over single
characters (CPython before 3.11.4 matches a possessive group wrongly, gh-106052).
"""

from __future__ import annotations

Kind = tuple[str, tuple[str, ...], str]
"""Name; case-folded parts of which a text holds one; pattern. A named group is the value."""

_START = r"(?<![A-Za-z0-9_-])"
_STOP = r"(?![A-Za-z0-9_-])"


def _token(kind: str, pattern: str, *hints: str) -> Kind:
    """Return a form that stands by itself: nothing that could belong to it is beside it."""
    return kind, hints, f"{_START}(?:{pattern}){_STOP}"


_PEM_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"[^-]*+(?:-(?!----)[^-]*+)*"
_PEM = (
    rf"-----BEGIN {_PEM_NAME}(?:(?=(?:[^-]|-(?!----))*?[A-Za-z0-9+/]{{16}}){_PEM_BODY}"
    rf"-----END {_PEM_NAME}|(?:\s*+[A-Za-z0-9+/=]{{16,}}+)+)"
)
_OPENAI = (
    rf"{_START}sk-(?!ant-)(?=[A-Za-z_-]{{0,200}}\d)(?:[a-z]{{2,10}}-)?(?:v\d-)?[A-Za-z0-9_]{{20}}"
    r"[A-Za-z0-9_-]*+"
)
_JWT = rf"{_START}eyJ[A-Za-z0-9_-]{{8,}}+\.eyJ[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]{{8,}}+"
_W = "[A-Za-z0-9]"
_WD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"

_AZURE = (
    r"(?i)(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{40,90}={0,2})"
    r"|[?&]sig=(?P<code>[A-Za-z0-9%+/]{40,90}={0,2})"
)

PROVIDERS: tuple[Kind, ...] = (
    ("private-key", ("-----begin",), _PEM),
    (
        "private-key",
        ("private-lines:",),
        r"Private-Lines: \d{1,3}\r?\n(?P<value>(?:[A-Za-z0-9+/=]{4,80}\r?\n?){1,200})",
    ),
    _token(
        "aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "akia", "asia", "abia", "acca"
    ),
    _token("aws-bedrock-key", rf"ABSK{_W}[A-Za-z0-9+/]{{100,300}}={{0,2}}", "absk"),
    _token("alibaba-key", rf"LTAI{_W}{{12,26}}", "ltai"),
    _token("tencent-key", rf"AKID{_W}{{28,40}}", "akid"),
    _token("github-token", rf"gh[pousr]_{_W}{{36,255}}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github-token", r"github_pat_[A-Za-z0-9_]{22,255}", "github_pat_"),
    _token(
        "gitlab-token",
        rf"gl(?:pat|dt|rt|rtr|ft|cbt|ptt|agent|soat|imt|ffct|oas|wt)-{_WD}{{20,80}}"
        rf"(?:\.{_W}{{2,20}}){{0,2}}",
        "glpat-",
        "gldt-",
        "glrt",
        "glft-",
        "glcbt-",
        "glptt-",
        "glagent-",
        "glsoat-",
        "glimt-",
        "glffct-",
        "gloas-",
        "glwt-",
    ),
    _token("npm-token", rf"npm_{_W}{{36}}", "npm_"),
    _token("pypi-token", rf"pypi-AgE{_WD}{{50,250}}", "pypi-age"),
    _token("rubygems-key", rf"rubygems_{_HEX}{{48}}", "rubygems_"),
    _token("crates-token", rf"cio{_W}{{32}}", "cio"),
    _token("docker-token", rf"dckr_(?:pat|oat)_{_WD}{{27,40}}", "dckr_"),
    _token("slack-token", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}", "xox"),
    _token("slack-token", r"xapp-\d-[A-Z0-9]{8,16}-\d{8,16}-[a-z0-9]{32,80}", "xapp-"),
    (
        "slack-webhook",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,}+",
    ),
    (
        "webhook",
        ("/api/webhooks/",),
        rf"https://(?:\w{{2,10}}\.)?discord(?:app)?\.com/api/webhooks/\d{{15,21}}/{_WD}{{50,90}}",
    ),
    (
        "webhook",
        (".webhook.office.com",),
        r"https://[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,200}",
    ),
    _token("google-api-key", rf"AIza{_WD}{{35}}", "aiza"),
    _token(
        "google-oauth",
        rf"GOCSPX-{_WD}{{28}}|ya29\.{_WD}{{20,400}}|1//0{_WD}{{40,110}}",
        "gocspx-",
        "ya29.",
        "1//0",
    ),
    ("anthropic-key", ("sk-ant-",), rf"{_START}sk-ant-[A-Za-z0-9_-]{{20,}}+"),
    ("openai-key", ("sk-",), _OPENAI),
    _token("huggingface-token", rf"(?:hf_|api_org_){_W}{{34}}", "hf_", "api_org_"),
    _token("groq-key", rf"gsk_{_W}{{40,60}}", "gsk_"),
    _token("xai-key", rf"xai-{_W}{{70,90}}", "xai-"),
    _token("perplexity-key", rf"pplx-{_W}{{40,60}}", "pplx-"),
    _token("replicate-token", rf"r8_{_W}{{37}}", "r8_"),
    _token("langsmith-key", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}", "lsv2_"),
    _token("tavily-key", rf"tvly-(?:dev-|prod-)?{_W}{{20,40}}", "tvly-"),
    _token("elevenlabs-key", rf"sk_{_HEX}{{48}}", "sk_"),
    _token("pinecone-key", r"pcsk_[A-Za-z0-9_]{40,90}", "pcsk_"),
    _token("firecrawl-key", rf"fc-{_HEX}{{32}}", "fc-"),
    _token("jina-key", rf"jina_{_WD}{{50,80}}", "jina_"),
    _token(
        "stripe-key",
        rf"[sr]k_(?:live|test|prod)_{_W}{{16,250}}|whsec_{_W}{{24,80}}",
        "k_live_",
        "k_test_",
        "k_prod_",
        "whsec_",
    ),
    _token("square-token", rf"sq0(?:atp|csp|idp)-{_WD}{{22,43}}|EAAA{_WD}{{60}}", "sq0", "eaaa"),
    _token("shopify-token", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}", "shp"),
    _token(
        "paypal-token",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        "access_token$",
    ),
    _token("sendgrid-key", rf"SG\.{_WD}{{20,24}}\.{_WD}{{39,50}}", "sg."),
    _token("mailgun-key", rf"key-{_HEX}{{32}}", "key-"),
    _token("mailchimp-key", rf"{_HEX}{{32}}-us\d{{1,2}}", "-us"),
    _token("brevo-key", rf"xkeysib-{_HEX}{{64}}-{_W}{{16}}", "xkeysib-"),
    _token("twilio-key", rf"SK{_HEX}{{32}}", "sk"),
    # Their hints stand everywhere: a pattern that begins with a set finds its places faster.
    ("telegram-bot-token", (":",), rf"\d(?<!{_WD}\d)\d{{7,9}}:[A-Za-z0-9_-]{{35}}{_STOP}"),
    (
        "discord-token",
        (".",),
        rf"[MNO](?<!{_WD}[MNO]){_WD}{{23,27}}\.{_WD}{{6}}\.{_WD}{{27,38}}{_STOP}",
    ),
    _token("facebook-token", rf"EAA{_W}{{100,300}}", "eaa"),
    _token("twitter-token", r"A{20,24}[A-Za-z0-9%]{60,120}", "aaaaaaaaaaaaaaaaaaaa"),
    _token("digitalocean-token", rf"do[opr]_v1_{_HEX}{{64}}", "_v1_"),
    _token("heroku-key", rf"HRKU-{_WD}{{30,70}}", "hrku-"),
    _token("netlify-token", rf"nf[pcbu]_{_W}{{36,40}}", "nfp_", "nfc_", "nfb_", "nfu_"),
    _token(
        "vercel-token",
        rf"vercel_blob_rw_{_W}{{16,30}}_{_W}{{24,40}}|vc[ipakr]_{_WD}{{24,90}}",
        "vercel_blob_rw_",
        "vcp_",
        "vci_",
        "vca_",
        "vck_",
        "vcr_",
    ),
    _token(
        "fly-token", rf"fo1_{_WD}{{43}}|fm[12]_[A-Za-z0-9+/=]{{80,600}}", "fo1_", "fm1_", "fm2_"
    ),
    _token(
        "supabase-key",
        rf"sbp_(?:oauth_)?{_HEX}{{40}}|sb_secret_{_WD}{{20,60}}",
        "sbp_",
        "sb_secret_",
    ),
    _token("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}", "pscale_"),
    _token("databricks-token", rf"dapi{_HEX}{{32}}(?:-\d)?", "dapi"),
    _token("cloudflare-token", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}", "v1.0-"),
    _token("vault-token", rf"hv[sbr]\.{_WD}{{24,300}}|s\.{_W}{{24}}", "hvs.", "hvb.", "hvr.", "s."),
    _token("terraform-token", rf"{_W}{{14}}\.atlasv1\.{_WD}{{60,70}}", ".atlasv1."),
    _token("pulumi-token", rf"pul-{_HEX}{{40}}", "pul-"),
    _token(
        "doppler-token",
        rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_W}{{40,44}}",
        "dp.",
    ),
    _token("infisical-token", rf"st\.{_HEX}{{24}}\.{_HEX}{{32}}\.{_HEX}{{32}}", "st."),
    _token(
        "tailscale-key",
        rf"tskey-(?:auth-|api-|client-|scim-)?{_W}{{8,20}}(?:CNTRL)?-{_W}{{10,50}}",
        "tskey-",
    ),
    _token(
        "new-relic-key", rf"NR(?:AK|JS|II|BR)-{_WD}{{19,40}}", "nrak-", "nrjs-", "nrii-", "nrbr-"
    ),
    _token(
        "grafana-token",
        rf"glc_[A-Za-z0-9+/]{{32,400}}={{0,2}}|glsa_{_W}{{32}}_[0-9A-Fa-f]{{8}}",
        "glc_",
        "glsa_",
    ),
    _token("sentry-token", rf"sntrys_[A-Za-z0-9+/=_-]{{40,400}}|sntry[uai]_{_HEX}{{64}}", "sntry"),
    _token("dynatrace-token", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0"),
    _token("postman-key", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}", "pmak-"),
    _token("linear-key", rf"lin_(?:api|oauth)_{_W}{{32,64}}", "lin_"),
    _token("notion-token", rf"secret_{_W}{{43}}|ntn_{_W}{{40,50}}", "secret_", "ntn_"),
    _token(
        "atlassian-token", r"AT(?:ATT|CTT|SVC)3[A-Za-z0-9_=-]{60,300}", "atatt3", "atctt3", "atsvc3"
    ),
    _token("airtable-token", rf"pat{_W}{{14}}\.{_HEX}{{64}}", "pat"),
    _token("hubspot-token", r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "pat-"),
    _token("figma-token", rf"fig[dorh]_?{_WD}{{38,60}}", "figd_", "figo", "figr", "figh"),
    _token("dropbox-token", rf"sl\.(?:u\.)?{_WD}{{60,1500}}", "sl."),
    _token("artifactory-key", rf"AKCp{_W}{{60,75}}|cmVmd{_W}{{50,70}}", "akcp", "cmvmd"),
    _token("azure-secret", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", "q~"),
    (
        "azure-secret",
        ("accountkey=", "sharedaccesskey=", "sig="),
        _AZURE,
    ),
    _token("age-key", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", "age-secret-key-"),
    _token("wallet-key", r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}", "prv"),
    _token("resend-key", rf"re_{_W}{{8}}_{_W}{{24}}", "re_"),
    _token("clojars-token", r"CLOJARS_[a-z0-9]{60}", "clojars_"),
    _token("nuget-key", r"oy2[a-z0-9]{43}", "oy2"),
    _token("neon-key", r"napi_[a-z0-9]{60,70}", "napi_"),
    _token("bitbucket-token", rf"ATBB{_W}{{28,40}}", "atbb"),
    _token("posthog-key", rf"ph[xs]_{_W}{{40,50}}", "phx_", "phs_"),
    _token("honeycomb-key", r"hc[abc]ik_[a-z0-9]{58,64}", "hcaik_", "hcbik_", "hccik_"),
    _token("1password-token", r"ops_eyJ[A-Za-z0-9+/=]{200,1500}", "ops_eyj"),
    _token(
        "1password-key",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "a3-",
    ),
    _token("infracost-key", rf"ico-{_W}{{32}}", "ico-"),
    _token("prefect-key", r"pn[ub]_[a-z0-9]{36}", "pnu_", "pnb_"),
    _token("readme-key", r"rdme_[a-z0-9]{70}", "rdme_"),
    _token("fireworks-key", rf"fw_{_W}{{22,26}}", "fw_"),
    _token("cerebras-key", r"csk-[a-z0-9]{46,52}", "csk-"),
    _token("nvidia-key", rf"nvapi-{_WD}{{60,70}}", "nvapi-"),
    _token("e2b-key", rf"e2b_{_HEX}{{40}}", "e2b_"),
    _token("apify-token", rf"apify_api_{_W}{{34,42}}", "apify_api_"),
    _token("sourcegraph-token", rf"sgp_(?:{_HEX}{{16}}_)?{_HEX}{{40}}", "sgp_"),
    _token("payment-key", rf"FLWSECK(?:_TEST)?-{_W}{{32}}-X", "flwseck"),
    _token("payment-key", rf"rzp_(?:live|test)_{_W}{{14,24}}", "rzp_"),
    _token(
        "payment-key",
        rf"access-(?:production|development|sandbox)-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
        "access-",
    ),
    _token("payment-key", rf"shippo_(?:live|test)_{_HEX}{{40}}", "shippo_"),
    _token("payment-key", rf"EZ[AT]K{_W}{{54}}", "ezak", "eztk"),
    _token("payment-key", rf"(?:live|test)_(?:pub_)?{_HEX}{{31,40}}", "live_", "test_"),
    _token("duffel-token", rf"duffel_(?:live|test)_{_WD}{{43}}", "duffel_"),
    _token("frameio-token", rf"fio-u-{_WD}{{64}}", "fio-u-"),
    _token("typeform-token", r"tfp_[A-Za-z0-9_.=-]{59}", "tfp_"),
    _token("scalingo-token", rf"tk-us-{_WD}{{48}}", "tk-us-"),
    _token("settlemint-token", rf"sm_(?:aat|pat|sat)_{_W}{{16}}", "sm_aat_", "sm_pat_", "sm_sat_"),
    _token("openshift-token", rf"sha256~{_WD}{{43}}", "sha256~"),
    _token("buildkite-token", rf"bkua_{_HEX}{{40}}", "bkua_"),
    _token("circleci-token", rf"CCI(?:PAT|PRJ)_{_W}{{20,26}}_{_HEX}{{40}}", "ccipat_", "cciprj_"),
    _token("harness-key", rf"[ps]at\.{_WD}{{22}}\.{_HEX}{{24}}\.{_W}{{20}}", "pat.", "sat."),
    _token("octopus-key", r"API-[A-Z0-9]{26}", "api-"),
    _token("yandex-token", rf"t1\.[A-Z0-9a-z_-]{{1,40}}={{0,2}}\.{_WD}{{86}}={{0,2}}", "t1."),
    _token("mapbox-token", rf"[st]k\.eyJ{_W}{{30,300}}\.{_WD}{{20,30}}", "k.eyj"),
    _token("contentful-token", rf"CFPAT-{_WD}{{40,46}}", "cfpat-"),
    _token("n8n-key", rf"n8n_api_{_HEX}{{40,80}}", "n8n_api_"),
    _token("sonar-token", rf"sq[uap]_{_HEX}{{40}}", "squ_", "sqa_", "sqp_"),
    _token("maxmind-key", rf"{_W}{{6}}_{_W}{{29}}_mmk", "_mmk"),
    _token("cursor-key", rf"(?:crsr|key)_{_HEX}{{64}}", "crsr_", "key_"),
    _token("together-key", rf"tgp_v1_{_WD}{{43}}", "tgp_v1_"),
    _token("azure-devops-token", rf"{_W}{{76}}AZDO{_W}{{4}}", "azdo"),
    (
        "webhook",
        ("hooks.zapier.com",),
        r"https://hooks\.zapier\.com/hooks/catch/\d{5,10}/[a-z0-9]{5,10}",
    ),
    ("jwt", ("eyj",), _JWT),
)
"""Forms that providers publish."""

_URL = (
    r"(?i)(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,200}:"
    r"(?P<value>[^\s/@]{3,200})@(?=\S)"
)
_NAMES = (
    r"pass(?:word|wd|phrase|code)|passwort|kennwort|pwd?|contraseña|senha|mot de passe|mdp|пароль"
    r"|wachtwoord|lösenord|hasło|şifre|parola|密码|密碼|口令|パスワード|비밀번호|암호"
    r"|(?:api|access|auth|bot|secret|refresh|app|service|bearer|webhook|account)[ _-]?"
    r"(?:key|token|secret|password)|client[ _-]?secret|private[ _-]?key|signing[ _-]?key"
    r"|encryption[ _-]?key|master[ _-]?key|wpa[ _-]?key|wlan[ _-]?schlüssel|wi-?fi[ _-]?key"
)
_IS = (
    r"is|was|are|set to|changed to|now|ist|lautet|heißt|es|est|é|è|is nu|är|to|это|теперь"
    r"|は|是|为|為|는|은"
)
_OF = "for|of|to|on|at|für|von|para|de|do|da|del|du|des|au|pour|для"
_QUOTED = r"\"(?P<double>[^\s\"]{6,200})\"|'(?P<single>[^\s']{6,200})'|`(?P<code>[^\s`]{6,200})`"
_ASSIGNED = (
    rf"(?im)(?<![^\W_])(?:{_NAMES})[*_\"'`]{{0,3}}[ \t]{{0,3}}(?:=>|:=|[:=：])[ \t]{{0,3}}"
    rf"[*_]{{0,3}}[ \t]{{0,3}}(?:{_QUOTED}"
    r"|(?P<value>[^\s\"'`*|<>;]{6,200})(?=[*_;]{0,3}[ \t\r]{0,20}(?:\||;|$)))"
)
_CELL = (
    rf"(?im)\|[ \t]{{0,20}}[*_`]{{0,3}}(?:[\w .-]{{0,30}}(?<![^\W_]))?(?:{_NAMES})[*_`]{{0,3}}"
    r"[ \t]{0,20}\|[ \t]{0,20}[*_`]{0,3}(?P<value>[^\s|`*]{6,200})[*_`]{0,3}[ \t]{0,20}\|"
)
_PROSE = (
    rf"(?i)(?<![^\W_])(?:{_NAMES})(?:[ \t](?:{_OF})[ \t][^\n.:;,|]{{1,40}}?)?"
    rf"[ \t]{{0,3}}(?:(?:{_IS})(?![^\W_])[ \t]{{0,3}}){{1,2}}:?[ \t]{{0,3}}"
    rf"(?:{_QUOTED}|(?P<said>[^\s\"'`|<>]{{6,200}}))"
)
_WHOSE = (
    rf"(?i)(?<![^\W_])(?:{_NAMES})[ \t]{{0,3}}"
    rf"(?:(?:{_OF})[ \t][^\n.:=;,|()]{{1,40}}|\([^\n:=;|()]{{1,40}}\))"
    rf"[*_]{{0,3}}[:=\uff1a][*_]{{0,3}}[ \t]{{0,3}}(?:{_QUOTED}|(?P<said>[^\s\"'`|<>]{{6,200}}))"
)
"""A password that is told with what it is for: "password for the router: ..."."""
_CJK_PROSE = (
    r"(?:密码|密碼|口令|パスワード|비밀번호|암호)[ \t]{0,3}(?:是|为|為|は|는|은)[ \t]{0,3}"
    r"[「『“\"'`]{0,1}(?P<said>[!-~]{6,100})"
)
_NAMED = (
    r"(?i)(?<![^\W_])(?<!otp )(?<![2m]fa )(?<!code )(?<![?&])"
    r"(?:token|secret|credentials?|apikey)"
    r"[*_\"'`]{0,3}[ \t]{0,3}(?:=>|:=|[:=：])[ \t]{0,3}[*_\"'`]{0,3}"
    r"(?P<long>[A-Za-z0-9_+/=.~-]{16,400})"
)
_HEADER = (
    r"(?i)(?<![^\W_])(?:authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
    r"(?:bearer|basic|token|ssws)|bearer|x-api-key[\"']?[ \t]{0,3}[:=])[ \t]{1,3}"
    r"(?P<long>[A-Za-z0-9._~+/=-]{16,600})"
)
_NETRC = (
    r"(?i)\blogin[ \t\r\n]{1,4}\S{1,100}[ \t\r\n]{1,4}password[ \t\r\n]{1,4}(?P<code>\S{4,200})"
)
_OPTION = (
    r"(?i)(?<!\S)--?(?:password|passwd|pass|token|api[-_]key|secret|access[-_]key)[= ][\"']?"
    r"(?P<code>[^\s\"']{6,200})"
    r"|(?<!\S)sshpass[ \t]{1,3}-p[ \t]{0,3}[\"']?(?P<value>[^\s\"']{4,200})"
    r"|(?<!\S)(?:-u|--user)[= ]?[\"']?[\w.@-]{1,60}:(?P<single>[^\s\"'/@]{4,200})"
    r"|(?<!\S)(?:mysql|mysqldump|mariadb)[ \t][^\n]{0,80}?[ \t]-p(?P<double>[^\s-][^\s]{3,100})"
)
_TOTP_NAMED = (
    r"(?i)(?<![^\W_])(?:totp|2fa|mfa|otp|authenticator)[^\n:=]{0,30}[:=][ \t]{0,3}[`\"']?"
    r"(?P<value>(?-i:[A-Z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}))(?![A-Za-z0-9])"
)
_SEED = (
    r"(?i)(?<![^\W_])(?:seed|recovery|mnemonic|backup|secret)[ _-]?(?:phrase|words|seed)"
    r"[^\n:=]{0,40}[:=][ \t\r\n]{0,4}[`\"']?"
    r"(?P<value>(?-i:[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}))(?![A-Za-z])"
)
_WORDS = (
    "pass",
    "kennwort",
    "pw",
    "mdp",
    "contraseña",
    "senha",
    "пароль",
    "wachtwoord",
    "lösenord",
    "hasło",
    "şifre",
    "şi\u0307fre",  # which its capitals fold to
    "parola",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "암호",
    "key",
    "token",
    "secret",
    "schlüssel",
)

# These begin with a set too, as a token of Telegram does: most digits and capitals are no such.
_IBAN = (
    r"[A-Z](?<![A-Za-z0-9].)[A-Z]\d{2}"
    r"(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_CARD_GROUPS = (
    r"\d(?<![\w.-].)\d{3}[ -]"
    r"(?:\d{4}[ -]\d{4}[ -]\d{4}|(?<=3[47]\d{2}.)\d{6}[ -]\d{5})(?![\w-])"
)
_CARD = (
    r"(?i)(?:card|visa|mastercard|amex|karte|tarjeta|cartão|carte|карт|卡|カード)[^\n\d]{0,30}"
    r"(?P<value>[3-6]\d{12,18})(?!\d)"
)

NAMED: tuple[Kind, ...] = (
    ("url-credentials", ("://",), _URL),
    ("password", _WORDS, _ASSIGNED),
    ("password", _WORDS, _CELL),
    ("password", _WORDS, _PROSE),
    ("password", _WORDS, _WHOSE),
    ("password", ("密", "口令", "パス", "비밀", "암호"), _CJK_PROSE),
    ("token", ("token", "secret", "credential", "apikey"), _NAMED),
    ("token", ("bearer", "authorization", "x-api-key"), _HEADER),
    ("password", ("login",), _NETRC),
    (
        "password",
        ("-pass", "-token", "-api", "-secret", "-access", "-u", "sshpass", "mysql", "mariadb"),
        _OPTION,
    ),
    ("totp", ("otpauth://",), r"(?i)otpauth://[^\s]{1,200}?[?&]secret=(?P<value>[A-Z2-7]{16,128})"),
    ("totp", ("totp", "2fa", "mfa", "otp", "authenticator"), _TOTP_NAMED),
    ("seed-phrase", ("seed", "recovery", "mnemonic", "backup", "secret"), _SEED),
    (
        "iban",
        tuple("0123456789"),
        _IBAN,
    ),
    (
        "card",
        tuple("3456"),
        _CARD_GROUPS,
    ),
    (
        "card",
        (
            "card",
            "visa",
            "mastercard",
            "amex",
            "karte",
            "tarjeta",
            "cartão",
            "carte",
            "карт",
            "卡",
            "カード",
        ),
        _CARD,
    ),
)
"""Forms that the words before them name, and numbers that prove themselves by a check digit."""

LINED = frozenset((_ASSIGNED, _CELL, _PROSE, _WHOSE, _NAMED, _HEADER, _OPTION, _TOTP_NAMED, _CARD))
"""Forms that are slow to look for and within one line: only lines with a hint are looked at."""

SWITCHED = ("card", "iban", "seed-phrase", "totp")
"""Kinds that an owner may want to remember, and may switch off (`secrets.off`)."""
