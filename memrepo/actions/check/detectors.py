"""More kinds of secrets, by detect-secrets where it is installed (`pip install memrepo[scan]`).

It takes long to start and to read, so it serves pushes, whole trees and histories only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec

from memrepo.checks.secrets import ALLOW, MAX_SCANNED, SECRET
from memrepo.core.problems import Problem
from memrepo.core.secrets import find_secrets

# Its detectors of named forms; those that go by entropy or by a key's name find half of any memory.
_DETECTORS = (
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "CloudantDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "IbmCloudIamDetector",
    "IbmCosHmacDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SoftlayerDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)


@lru_cache(maxsize=1)
def available() -> bool:
    """Tell whether the scanner is installed."""
    return find_spec("detect_secrets") is not None


def scanned(path: str, data: bytes) -> Iterator[Problem]:
    """Yield what the scanner finds and memrepo's own rules do not."""
    if not available() or len(data) > MAX_SCANNED or b"\0" in data[:8000]:
        return
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import transient_settings

    text = data.decode("utf-8", "replace")
    ours = {secret.line for secret in find_secrets(text)}
    with transient_settings({"plugins_used": [{"name": name} for name in _DETECTORS]}):
        for number, line in enumerate(text.split("\n"), start=1):
            if number in ours or not line.strip() or ALLOW.search(line):
                continue
            for kind in sorted({secret.type for secret in scan_line(line)}):
                yield SECRET.found(
                    path,
                    f"found a secret ({kind}, by detect-secrets)",
                    line=number,
                    column=1,
                    fix="take it out, and change it where it is used; if it is none, end the line"
                    " with <!-- memrepo:allow-secret -->",
                )
