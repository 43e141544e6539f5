"""The tokens that clients keep for themselves: made once, and no more where their owner has shut one out."""

import json
import shlex
from collections.abc import Generator
from pathlib import Path

import pytest

from showcaller.transport.doors.client_token import TokenRefused, external_token, renew_external_token
from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import Showcaller
from tests.e2e.test_daemon_tokens import asks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(Showcaller(folder / "home", folder)) as daemon:
        yield daemon


def test_a_client_has_its_token_made_once_and_kept_privately(daemon: Daemon) -> None:
    token = external_token(daemon.home, "bridge")
    kept = daemon.home / "clients" / "bridge"
    assert kept.read_text().strip() == token
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert external_token(daemon.home, "bridge") == token


def test_a_client_whose_token_another_replaced_is_told_how_to_have_one_again(daemon: Daemon) -> None:
    showcaller = Showcaller(daemon.home, daemon.home.parent)
    token = external_token(daemon.home, "elsewhere")
    assert showcaller("tokens", "new", "--name", "elsewhere", "--replace").code == 0
    with pytest.raises(TokenRefused, match="tokens new --name elsewhere --replace --keep"):
        renew_external_token(daemon.home, "elsewhere", token)
    kept = showcaller("tokens", "new", "--name", "elsewhere", "--replace", "--keep", "--json")
    told = json.loads(kept.out)
    assert (told["kept"], "token" in told) == (str(daemon.home / "clients" / "elsewhere"), False)
    other = renew_external_token(daemon.home, "elsewhere", token)
    assert (other != token, asks(daemon, other).status_code) == (True, 200)


def test_a_client_whose_token_was_lost_or_spoiled_has_another_made(daemon: Daemon) -> None:
    """Its owner has revoked none of its name; the relay refuses what is none of its tokens."""
    first = external_token(daemon.home, "spoiled")
    (daemon.home / "clients" / "spoiled").unlink()
    with daemon.owner as owner:
        listed = owner.get("/api/tokens").json()["tokens"]
        session = next(row["session"] for row in listed if row["name"] == "spoiled")
        archived = owner.post("/api/call", json={"action": "archive", "relay": "this", "session": session})
        assert archived.json()["ok"]
    another = external_token(daemon.home, "spoiled")
    assert another != first
    assert asks(daemon, another).status_code == 200


def test_a_client_whose_token_was_revoked_stays_out_until_its_owner_lets_it_in(daemon: Daemon) -> None:
    showcaller = Showcaller(daemon.home, daemon.home.parent)
    call = ("call", "--name", "left out", '{"action": "list_relays"}')
    assert showcaller(*call).code == 0
    told = showcaller("tokens", "revoke", "left out")
    way_in = ("tokens", "new", "--name", "left out", "--keep")
    assert (told.code, f"showcaller {shlex.join(way_in)}" in told.err) == (0, True), told
    kept = daemon.home / "clients" / "left out"
    for is_there in (True, True, False):  # also where the client has lost what it kept
        if not is_there:
            kept.unlink()
        refused = showcaller(*call)
        assert (refused.code, json.loads(refused.out)["code"]) == (1, "REMOTE_RELAY_UNAUTHENTICATED"), refused
        assert "was revoked, and its client gets no other" in refused.err
        assert f"showcaller {shlex.join(way_in)}" in refused.err
    with daemon.owner as owner:
        listed = [row for row in owner.get("/api/tokens").json()["tokens"] if row["name"] == "left out"]
    assert [row["state"] for row in listed] == ["revoked"]
    let_in = showcaller(*way_in)
    assert (let_in.code, let_in.out, kept.stat().st_mode & 0o777) == (0, "", 0o600), let_in
    refused = showcaller(*way_in)
    assert refused.code == 1
    assert "showcaller tokens new --kind external --name 'left out' --replace --keep" in refused.err
    assert showcaller(*call).code == 0
    with daemon.owner as owner:
        again = [row for row in owner.get("/api/tokens").json()["tokens"] if row["name"] == "left out"]
    assert [(row["state"], row["session"]) for row in again] == [("in_force", listed[0]["session"])]
    assert showcaller("tokens", "new", "--kind", "supervisor", "--name", "x", "--keep").code == 2
