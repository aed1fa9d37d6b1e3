"""`memrepo serve` in a real Chromium: forms and their commits, both schemes, phone width."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import git, memories, subjects
from mornings import MORNING

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in _BROWSERS if (path := shutil.which(name))), "")
DRIVER = shutil.which("chromedriver") or ""
pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="needs Chromium and chromedriver on the PATH"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.implicitly_wait(20)
    profile = driver.capabilities["chrome"]["userDataDir"]
    try:
        yield driver
    finally:
        driver.quit()
        end(profile)


def end(profile: str) -> None:
    """End the browser of a profile: one that a script starts outlives the driver."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"--user-data-dir={profile}" in path.read_text():
                os.kill(int(path.parent.name), signal.SIGTERM)


class Page:
    """One repository that is served, and the browser that shows it."""

    def __init__(self, browser: Any, link: str, repo: Path) -> None:
        self.browser, self.repo, self.link = browser, repo, link
        self.home = f"{link.partition('/?')[0]}/"
        browser.get(link)

    def go(self, path: str) -> None:
        self.browser.get(self.home + path)

    def all(self, css: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", css))

    def one(self, css: str) -> Any:
        return self.browser.find_element("css selector", css)

    def heads(self, text: str) -> None:
        """Wait until a page is there whose heading says a text."""
        end = time.monotonic() + 20
        while (found := self.say("document.querySelector('h1')?.innerText")) != text:
            assert time.monotonic() < end, (found, text)
            time.sleep(0.05)

    def say(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")


@pytest.fixture
def page(browser: Any, repo: Path) -> Iterator[Page]:
    argv = [sys.executable, "-m", "memrepo", "--now", MORNING, "-C", str(repo), "serve"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        try:
            browser.get_log("browser")
            yield Page(browser, link, repo)
            # What the policy of the pages forbids would be told here.
            told = [row for row in browser.get_log("browser") if row["source"] != "network"]
            assert told == []
        finally:
            process.terminate()


def test_the_link_lets_in_and_leaves_no_token_in_the_address(page: Page) -> None:
    assert page.browser.current_url == f"{page.home}morning"
    page.heads("This morning")
    page.browser.delete_all_cookies()
    page.go("morning")
    assert "opens only with the link" in page.browser.page_source
    page.browser.get(page.link)


def open_mail_server(page: Page) -> None:
    """Open the page of a memory from the first page of the agent."""
    page.go("morning")
    row = next(r for r in page.all(".first-page li") if "hermes" in r.text)
    row.find_element("css selector", "a").click()
    page.heads("The mail server is called hermes.")


def test_a_memory_is_opened_from_the_morning_and_edited(page: Page) -> None:
    page.heads("This morning")
    assert page.one("nav [aria-current=page]").text == "This morning"
    open_mail_server(page)
    page.one(".edit summary").click()
    area = page.one("textarea[name=text]")
    area.clear()
    area.send_keys("The mail server is hermes, in Lyon.")
    page.one(".edit button.go").click()
    page.heads("The mail server is hermes, in Lyon.")
    assert subjects(page.repo)[0].startswith("Correct ")


def test_what_takes_away_asks_first(page: Page) -> None:
    open_mail_server(page)
    head = git(page.repo, "rev-parse", "HEAD")
    forget = next(b for b in page.all("button") if b.text == "Forget")
    forget.click()
    page.browser.switch_to.alert.dismiss()
    assert git(page.repo, "rev-parse", "HEAD") == head
    forget.click()
    page.browser.switch_to.alert.accept()
    assert "Forgotten: search no longer finds it." in page.one(".flash").text
    assert subjects(page.repo)[0].startswith("Forget ")


SMALL = (
    "[...document.querySelectorAll('a, button, summary, input:not([type=hidden])')]"
    ".map(e => e.getBoundingClientRect().height).filter(h => 1 < h && h < 43.5).length"
)
"""The number of targets that are seen and lower than a finger is wide."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_pages_fit_a_phone_and_have_contrast_in_both_schemes(
    page: Page, scheme: str, width: int
) -> None:
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    page.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        for path in ("morning", f"memory/{next(iter(memories(page.repo)))}"):
            page.go(path)
            assert page.say("document.documentElement.scrollWidth") <= width, path
            ink, paper = (
                page.say(f"getComputedStyle(document.body).{name}")
                for name in ("color", "backgroundColor")
            )
            assert contrast(ink, paper) > 7
            assert (brightness(paper) < 0.2) == (scheme == "dark")
            unnamed = page.say(
                "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
                ".filter(e => !e.labels.length).length"
            )
            assert unnamed == 0
            assert page.say("document.querySelectorAll('h1').length") == 1
            assert page.say(SMALL) == 0, path
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def brightness(colour: str) -> float:
    """Return the relative luminance of `rgb(...)` (WCAG 2)."""
    parts = [int(p) / 255 for p in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def test_another_origin_gets_nothing_from_it(page: Page, tmp_path: Path) -> None:
    evil = tmp_path / "evil.html"
    one = next(iter(memories(page.repo)))
    evil.write_text(
        f'<form method="post" action="{page.home}do"><input name="deed" value="forget">'
        f'<input name="id" value="{one}"></form><script>document.forms[0].submit()</script>'
    )
    head = git(page.repo, "rev-parse", "HEAD")
    page.browser.get(evil.as_uri())
    page.browser.get_log("browser")  # the refusal is told there
    assert git(page.repo, "rev-parse", "HEAD") == head
    page.browser.get(page.link)
    page.heads("This morning")


def test_read_only_shows_no_form(browser: Any, repo: Path) -> None:
    argv = [sys.executable, "-m", "memrepo", "--now", MORNING, "-C", str(repo), "serve"]
    with subprocess.Popen([*argv, "--read-only"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            browser.get(process.stdout.readline().strip())
            assert browser.find_element("css selector", ".badge").text == "read only"
            browser.implicitly_wait(0)
            assert browser.find_elements("css selector", "form[method=post] button") == []
        finally:
            browser.implicitly_wait(20)
            process.terminate()
