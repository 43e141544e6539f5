"""Which repositories may be cloned: those at hosts that the owner allows, and nothing that only looks so."""

import pytest

from showcaller.actors.contract.repositories import may_clone_from, read_repository

GOOD = [
    ("owner/name", "https://github.com/owner/name", "github.com"),
    ("https://GitHub.com/owner/name.git", "https://GitHub.com/owner/name.git", "github.com"),
    ("https://git.test:443/x", "https://git.test:443/x", "git.test"),
    ("https://git.test:8443/x", "https://git.test:8443/x", "git.test:8443"),
    ("ssh://git@git.test/x", "ssh://git@git.test/x", "git.test"),
    ("ssh://git.test:2222/x", "ssh://git.test:2222/x", "git.test:2222"),
    ("git@git.test:owner/name.git", "git@git.test:owner/name.git", "git.test"),
]
BAD = [
    "https://user@git.test/x",
    "https://user:secret@git.test/x",
    "ssh://git:secret@git.test/x",
    "https://allowed\\@evil.test/x",
    "https://allowed#@evil.test/x",
    "https://allowed?@evil.test/x",
    "https://git.test/x y",
    "https://git.test/x\ny",
    "https://git.test/x\x00",
    "https://[::1]/x",
    "https://git.test:99999/x",
    "https://git.test:0/x",
    "https://git.test",
    "https://git.test/",
    "https:///x",
    "https://-x/y",
    "https://%67it.test/x",
    "https://g\u0456t.test/x",
    "ssh://-oProxyCommand=x/y",
    "ssh://-l@git.test/x",
    "-u@git.test:x",
    "git@-oProxyCommand=x:y",
    "git@git.test:-x",
    "--upload-pack=x/y",
    "ext::sh -c x",
    "file:///srv/x",
    "/srv/x",
    "../x",
    "http://git.test/x",
    "git://git.test/x",
    "",
]


@pytest.mark.parametrize(("text", "url", "host"), GOOD)
def test_an_address_is_read_with_the_host_that_it_leads_to(text: str, url: str, host: str) -> None:
    assert read_repository(text) == (url, host)


@pytest.mark.parametrize("text", BAD)
def test_what_is_none_hides_its_host_or_carries_a_password_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be an https or ssh address|no password"):
        read_repository(text)


def test_a_host_is_allowed_by_its_whole_name_and_with_a_port_of_its_own_by_both() -> None:
    assert may_clone_from(read_repository("https://git.test/x"), ("git.test",))
    assert not may_clone_from(read_repository("https://git.test:8443/x"), ("git.test",))
    assert may_clone_from(read_repository("https://git.test:8443/x"), ("git.test:8443",))
    for other in ("https://evil-git.test/x", "https://git.test.evil/x", "https://test/x"):
        assert not may_clone_from(read_repository(other), ("git.test",))
    assert not may_clone_from(read_repository("owner/name"), ())
