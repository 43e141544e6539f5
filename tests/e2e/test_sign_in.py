"""A browser signs in by a link that works once, and then writes only as our own page."""

import json
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from showcaller.transport.doors.cli.commands.open import has_display
from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def showcaller(tmp_path_factory: pytest.TempPathFactory) -> Showcaller:
    folder: Path = tmp_path_factory.mktemp("page")
    return Showcaller(folder / "home", folder)


@pytest.fixture(scope="module")
def daemon(showcaller: Showcaller) -> Generator[Daemon]:
    with serving(showcaller, "--log-file", str(showcaller.folder / "log")) as daemon:
        yield daemon


@pytest.fixture
def browser(daemon: Daemon) -> Generator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{daemon.port}", trust_env=False) as browser:
        yield browser


def test_a_link_signs_in_once(showcaller: Showcaller, browser: httpx.Client, daemon: Daemon) -> None:
    link = json.loads(showcaller("open", "--json").out)["url"]
    assert link.startswith(f"http://127.0.0.1:{daemon.port}/sign-in?code=")
    assert browser.get("/").status_code == 401
    first = browser.get(link)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert browser.get("/").status_code == 200
    assert browser.get("/api/status").json()["ok"] is True
    again = browser.get(link)
    assert again.status_code == 410
    assert "showcaller open" in again.text
    (secret,) = browser.cookies.values()
    code = link.partition("=")[2]
    files = [path for path in (*daemon.home.rglob("*"), showcaller.folder / "log") if path.is_file()]
    kept = b"".join(path.read_bytes() for path in files)
    assert secret.encode() not in kept
    assert code.encode() not in kept


def test_a_write_of_a_signed_in_browser_needs_the_pages_own_word(
    showcaller: Showcaller, browser: httpx.Client
) -> None:
    browser.get(json.loads(showcaller("open", "--json").out)["url"])
    call = {"action": "list_relays"}
    word = browser.get("/api/csrf").json()["csrf"]
    for headers in ({}, {"x-csrf-token": ""}, {"x-csrf-token": "x" * 43}):
        refused = browser.post("/api/call", json=call, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "REMOTE_RELAY_FORBIDDEN")
    assert browser.post("/api/call", json=call, headers={"x-csrf-token": word}).status_code == 200
    foreign = {"x-csrf-token": word, "origin": "https://evil.example"}
    assert browser.post("/api/call", json=call, headers=foreign).status_code == 403


def test_wrong_links_are_limited_and_right_ones_work_meanwhile(
    showcaller: Showcaller, browser: httpx.Client
) -> None:
    link = json.loads(showcaller("open", "--json").out)["url"]
    answers = [browser.get("/sign-in", params={"code": "x"}) for _ in range(12)]
    assert answers[0].status_code == 410
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) > 0
    assert browser.get(link).status_code == 303


def test_a_cookie_that_nobody_was_given_lets_nobody_in(browser: httpx.Client, daemon: Daemon) -> None:
    for value in ("x", "", "x; y=z", '"'):
        answer = browser.get("/api/status", headers={"cookie": f"showcaller_{daemon.port}={value}"})
        assert answer.status_code == 401


def test_a_link_is_made_for_the_owner_alone_and_a_word_for_a_page(daemon: Daemon) -> None:
    with daemon.owner as owner:
        made = owner.post("/api/tokens", json={"kind": "supervisor", "name": "s"}).json()["token"]
        theirs = {"authorization": f"Bearer {made}"}
        assert owner.post("/api/sign-in-links", headers=theirs).status_code == 403
        assert owner.get("/", headers=theirs).status_code == 403
        assert owner.get("/api/csrf").status_code == 400


def test_a_browser_is_opened_only_where_there_is_a_display() -> None:
    assert not has_display({}, "linux")
    assert has_display({"DISPLAY": ":0"}, "linux")
    assert has_display({}, "darwin")
