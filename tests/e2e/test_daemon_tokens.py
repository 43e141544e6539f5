"""Tokens of a running relay: made, used, revoked, and kept nowhere but with their clients."""

import hashlib
from collections.abc import Generator
from pathlib import Path

import pytest

from showcaller.transport.doors.client_token import external_token, renew_external_token
from showcaller.transport.doors.start_error import RelayStartError
from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def test_the_owner_makes_lists_and_revokes_tokens(daemon: Daemon) -> None:
    with daemon.owner as owner:
        made = owner.post("/api/tokens", json={"kind": "external", "name": "My script"}).json()
        assert made["ok"]
        assert made["token"].startswith("sce_")
        (listed,) = (row for row in owner.get("/api/tokens").json()["tokens"] if row["name"] == "My script")
        assert (listed["kind"], listed["session"]) == ("external", made["session"])
        assert set(listed) == {"kind", "name", "session", "createdAt"}
        again = owner.post("/api/tokens", json={"kind": "external", "name": "My script"}).json()
        assert again["session"] == made["session"]
        assert again["token"] != made["token"]
        revoked = owner.post("/api/tokens/revoke", json={"name": "My script"})
        assert revoked.json() == {
            "ok": True,
            "kind": "external",
            "name": "My script",
            "session": made["session"],
        }
        assert owner.post("/api/tokens/revoke", json={"name": "My script"}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "owner", "name": "x"},
        {"kind": "agent", "name": "x"},
        {"kind": "external", "name": "../x"},
        {"kind": "external", "name": ""},
        {"kind": "external", "name": "x" * 65},
        {"kind": "external", "name": "a\u202eb"},
        {"kind": "external", "name": 7},
        {"kind": "external", "name": "x", "session": "ses_000000000000"},
    ],
)
def test_what_cannot_be_a_token_is_refused(daemon: Daemon, body: dict[str, object]) -> None:
    with daemon.owner as owner:
        assert owner.post("/api/tokens", json=body).status_code == 400


def test_a_client_has_its_token_made_once_and_kept_privately(daemon: Daemon) -> None:
    token = external_token(daemon.home, "bridge")
    kept = daemon.home / "clients" / "bridge"
    assert kept.read_text().strip() == token
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert external_token(daemon.home, "bridge") == token
    other = renew_external_token(daemon.home, "bridge", token)
    assert other != token
    assert (
        renew_external_token(daemon.home, "bridge", token) == other == external_token(daemon.home, "bridge")
    )


@pytest.mark.parametrize("name", ["", ".", "..", "../token", "a/b", ".lock", "a\nb"])
def test_a_name_that_leads_elsewhere_is_no_clients_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(RelayStartError, match="cannot be called"):
        external_token(tmp_path, name)


def test_without_a_relay_a_client_is_told_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(RelayStartError, match="showcaller serve"):
        external_token(tmp_path, "bridge")
    assert not (tmp_path / "clients").exists()


def test_of_a_token_only_the_hash_is_stored(daemon: Daemon) -> None:
    with daemon.owner as owner:
        tokens = [
            owner.post("/api/tokens", json={"kind": kind, "name": "hashed"}).json()["token"]
            for kind in ("external", "supervisor")
        ]
        owner.post("/api/tokens/revoke", json={"kind": "supervisor", "name": "hashed"})
    files = [path for path in daemon.home.rglob("*") if path.is_file() and path.parent.name != "clients"]
    stored = b"".join(path.read_bytes() for path in files)
    for token in tokens:
        assert token.encode() not in stored
        assert token.partition("_")[2].encode() not in stored
        assert hashlib.sha256(token.encode()).hexdigest().encode() in stored
