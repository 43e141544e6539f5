"""Clones over https on loopback: nobody is asked to sign in, and no redirect leads to another host."""

import asyncio
import functools
import shlex
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import CloneSource
from showcaller.transport.worker.cloning import CloneLimits, Cloning, NotClonedError
from tests.transport.worker.repositories import Repositories, executable, git

Serve = Callable[[Any], str]


class Quiet(SimpleHTTPRequestHandler):
    """Gives the files of a folder, and writes no log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Write nothing."""


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    """A repository ``one`` whose files are all that git needs over http."""
    made = Repositories(tmp_path / "remote")
    made.make("one")
    git(made.folder / "one.git", "update-server-info")
    return made


@pytest.fixture
def certificate(tmp_path: Path, repositories: Repositories) -> Path:
    """A certificate for 127.0.0.1, which the owner's git trusts, with its key."""
    file = tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    names = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*made, *names, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    certificate = file.with_name(f"{file.name}.crt").read_text()
    file.write_text(file.read_text() + certificate)
    (repositories.home / ".gitconfig").write_text(
        f"[http]\n\tsslCAInfo = {file}.crt\n\tfollowRedirects = true\n"
    )
    return file


@pytest.fixture
def serve(certificate: Path) -> Iterator[Serve]:
    """Start servers on loopback, each with a handler; gives the address of one."""
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(handler: Any) -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return f"https://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join(10)


async def cloned(repositories: Repositories, url: str, folder: Path) -> None:
    host = url.removeprefix("https://").partition("/")[0]
    cloning = Cloning(lambda: repositories.environment, set(), CloneLimits(seconds=30))
    await cloning.ensure(CloneSource(url=url, hosts=(host,)), folder, asyncio.Event(), continues=False)


async def test_what_the_owner_has_told_git_of_the_network_holds(
    repositories: Repositories, serve: Serve, tmp_path: Path
) -> None:
    url = serve(functools.partial(Quiet, directory=str(repositories.folder)))
    await cloned(repositories, f"{url}/one.git", tmp_path / "clones" / "ses_a")
    assert (tmp_path / "clones" / "ses_a" / "README").read_text() == "read me\n"
    (repositories.home / ".gitconfig").unlink()
    with pytest.raises(NotClonedError, match="certificate"):
        await cloned(repositories, f"{url}/one.git", tmp_path / "clones" / "ses_b")


async def test_an_allowed_host_cannot_lead_to_another(
    repositories: Repositories, serve: Serve, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Elsewhere(Quiet):
        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

    elsewhere = serve(functools.partial(Elsewhere, directory=str(repositories.folder)))

    class Redirecting(BaseHTTPRequestHandler):
        log_message = Quiet.log_message

        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", elsewhere + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

    url = serve(Redirecting)
    with (repositories.home / ".gitconfig").open("a") as settings:
        settings.write(f'[http "{url}"]\n\tfollowRedirects = true\n')
    with pytest.raises(NotClonedError, match=r"redirect|302"):
        await cloned(repositories, f"{url}/one.git", tmp_path / "clones" / "ses_a")
    assert asked == []


async def test_nobody_is_asked_for_a_name_or_a_password(
    repositories: Repositories, serve: Serve, tmp_path: Path
) -> None:
    class Closed(BaseHTTPRequestHandler):
        log_message = Quiet.log_message

        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()

    asked = tmp_path / "asked"
    ask = executable(tmp_path / "ask", f"touch {shlex.quote(str(asked))}; echo x")
    variables = ("GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR")
    repositories.environment |= {name: str(ask) for name in variables} | {"GIT_TERMINAL_PROMPT": "1"}
    with pytest.raises(NotClonedError, match="could not read Username"):
        await cloned(repositories, f"{serve(Closed)}/one.git", tmp_path / "clones" / "ses_a")
    assert not asked.exists()
