"""What a provider is to run by its name is looked at before a session is made that could only fail."""

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.provider_catalogue import known_providers
from showcaller.actors.relay.prompts import check_work

KNOWN = known_providers()


def find(program: str) -> str | None:
    return f"/usr/bin/{program}" if program == "my-agent" else None


@pytest.mark.parametrize(
    "provider",
    [
        "command",
        "claude",
        "callable:mymodule:work",
        "callable:my.module:Work.it",
        "generic:my-agent --acp",
        "generic:./agent",
        "generic:/opt/agent",
    ],
)
def test_what_may_be_there_is_let_through(provider: str) -> None:
    check_work(provider, KNOWN, "Nothing was created.", find)


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        (
            "callable:work",
            "write callable:MODULE:FUNCTION, as in callable:mymodule:work. Nothing was created.",
        ),
        ("callable:a-b:work", "names no function"),
        ("generic:nope --acp", 'no program "nope" on this relay\'s PATH'),
    ],
)
def test_what_could_only_fail_is_refused_with_the_way_out(provider: str, told: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_work(provider, KNOWN, "Nothing was created.", find)
    assert refused.value.code is Code.PROVIDER_UNAVAILABLE
    assert told in refused.value.error
