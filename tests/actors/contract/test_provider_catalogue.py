"""The catalogue of agents: what comes with the package, what an owner adds, and what is wrong in a file."""

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.provider_catalogue import (
    MOST_ENTRIES,
    catalogue_of,
    known_providers,
    read_agents,
    read_providers,
    shipped_agents,
)

FILE = "/data/providers.toml"


def test_the_package_knows_the_agents_that_speak_the_protocol() -> None:
    names = {"claude", "codex", "opencode", "gemini", "copilot", "cursor", "hermes", "qwen", "goose", "kimi"}
    assert names | {"grok", "deepseek"} == set(shipped_agents())
    for agent in shipped_agents().values():
        assert agent.install, f"{agent.name} does not say how to get it"
        assert agent.loads or agent.resumes, f"{agent.name} could not go on after its process has died"
    assert [entry.provider for entry in known_providers()][:3] == ["command", "callable", "claude"]


def test_an_agent_on_another_account_bills_the_one_that_runs_it() -> None:
    grok = shipped_agents()["grok"]
    assert (grok.command, grok.billing_of) == (shipped_agents()["opencode"].command, "opencode")


def test_the_owner_adds_an_agent_and_its_entry_is_a_provider() -> None:
    text = """
        [providers.mine]
        label = "My agent"
        command = ["my-agent", "--acp"]
        takes = "repo"
        steers = true
        agents_may_start = false
        mcp = "none"
        patient = true
    """
    catalogue = catalogue_of(read_agents(text, FILE, shipped_agents()).values())
    entry = catalogue.find("mine")
    assert entry is not None
    assert (entry.label, entry.kind, entry.takes, entry.program) == ("My agent", "acp", "repo", "my-agent")
    assert (entry.steers, entry.agents_may_start, entry.patient) == (True, False, True)
    assert entry.note is not None
    assert "no tools of ours" in entry.note
    agent = catalogue.agent_of("mine")
    assert agent is not None
    assert agent.command == ("my-agent", "--acp")


def test_the_owner_adds_a_command_that_gets_prompts_as_its_input() -> None:
    text = """
        [providers.lines]
        kind = "command"
        label = "Count lines"
        command = ["wc", "-l"]
        environment = {LC_ALL = "C"}

        [providers.words]
        kind = "command"
        like = "lines"
        label = "Count words"
        command = ["wc", "-w"]
        agents_may_start = true
    """
    entries = read_providers(text, FILE, shipped_agents())
    catalogue = catalogue_of(entries.agents.values(), entries.commands.values())
    lines, words, shell = (catalogue.find(name) for name in ("lines", "words", "command"))
    assert lines is not None
    assert words is not None
    assert shell is not None
    assert (lines.kind, lines.program, lines.agents_may_start, lines.runs_lines) == (
        "command",
        "wc",
        False,
        False,
    )
    assert words.fixed is not None
    assert (words.fixed.command, words.fixed.environment) == (("wc", "-w"), {"LC_ALL": "C"})
    assert words.agents_may_start
    assert (shell.fixed, shell.runs_lines) == (None, True)
    assert catalogue.agent_of("lines") is None


@pytest.mark.parametrize(
    ("table", "key", "why"),
    [
        ('kind = "shell"', "kind", 'a kind is "acp" or "command"'),
        ('kind = "command"\nlabel = "L"', "command", "it has to be said"),
        ('kind = "command"\nlabel = "L"\ncommand = []', "command", ""),
        ('kind = "command"\nlabel = "L"\ncommand = ["a"]\nsteers = true', "steers", "there is no such key"),
        ('kind = "command"\nlike = "claude"', "like", 'there is no entry "claude" of its kind above it'),
    ],
)
def test_what_is_wrong_of_a_command_is_named(table: str, key: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_providers(f"[providers.mine]\n{table}\n", FILE, shipped_agents())
    assert refused.value.fields["key"].replace('"', "") == f"providers.mine.{key}"
    assert why in refused.value.error


def test_the_owner_says_otherwise_of_one_that_is_known_and_the_rest_of_it_stays() -> None:
    before = shipped_agents()["claude"]
    text = '[providers.claude]\nenvironment = {ANTHROPIC_BASE_URL = "http://127.0.0.1:1"}\nsteers = true\n'
    agent = read_agents(text, FILE, shipped_agents())["claude"]
    assert agent.environment == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    assert agent.steers
    assert (agent.command, agent.install, agent.loads) == (before.command, before.install, before.loads)


def test_variables_are_added_to_those_of_the_entry_that_one_is_like() -> None:
    text = """
        [providers.mine]
        label = "Mine"
        like = "grok"
        environment = {MORE = "1"}
    """
    agent = read_agents(text, FILE, shipped_agents())["mine"]
    assert agent.environment == {**shipped_agents()["grok"].environment, "MORE": "1"}
    assert agent.name == "mine"


def test_the_owner_gives_an_agent_mcp_servers_of_his_own() -> None:
    text = """
        [providers.claude.mcp_servers.docs]
        url = "https://docs.test/mcp"
        headers = {Authorization = "Bearer mine"}
        [providers.claude.mcp_servers.files]
        command = ["files", "--read-only"]
    """
    servers = read_agents(text, FILE, shipped_agents())["claude"].mcp_servers
    assert servers["docs"].url == "https://docs.test/mcp"
    assert servers["files"].command == ("files", "--read-only")


def test_any_command_is_an_agent_when_it_is_named_and_agents_may_not_start_it() -> None:
    catalogue = known_providers()
    agent = catalogue.agent_of("generic:my-agent --flag 'two words'")
    assert agent is not None
    assert agent.command == ("my-agent", "--flag", "two words")
    entry = catalogue.find("generic:my-agent")
    assert entry is not None
    assert not entry.agents_may_start
    assert catalogue.find("generic") is None
    assert catalogue.find("generic:'open") is None


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("x = = 1", f"{FILE}: it is no TOML", "line 1"),
        ("[agents.x]", f'{FILE}: "agents"', "there is providers"),
        ("providers = 1", f"{FILE}: providers:", "[providers.NAME]"),
        ("[providers]\nmine = 1", f"{FILE}: providers:", "[providers.NAME]"),
        ("[providers.mine]\nlabel = 'M'", f"{FILE}: providers.mine.command:", "has to be said"),
        ("[providers.mine]\ncomand = ['m']", f'{FILE}: providers.mine."comand":', "command"),
        (
            "[providers.mine]\nlabel = 'M'\ncommand = 'm'",
            f"{FILE}: providers.mine.command:",
            "must be a list",
        ),
        ("[providers.mine]\nlabel = 'M'\ncommand = []", f"{FILE}: providers.mine.command:", "is empty"),
        (
            "[providers.mine]\nlabel = 'M'\ncommand = [1]",
            f"{FILE}: providers.mine.command.0:",
            "must be text",
        ),
        (
            "[providers.claude]\nsteers = 'often'",
            f"{FILE}: providers.claude.steers:",
            "must be true or false",
        ),
        ("[providers.claude]\nmcp = 'ftp'", f"{FILE}: providers.claude.mcp:", "'http'"),
        ("[providers.claude]\nkill_grace = inf", f"{FILE}: providers.claude.kill_grace:", "finite"),
        ("[providers.claude]\nenvironment = {'A=B' = ''}", f"{FILE}: providers.claude.environment", "'='"),
        ("[providers.claude]\nname = 'other'", f'{FILE}: providers.claude."name":', "no such key"),
        ("[providers.command]\nlabel = 'C'", f"{FILE}: providers.command:", "no agent"),
        ("[providers.external]\nlabel = 'C'", f"{FILE}: providers.external:", "no agent"),
        ("[providers.'A B']\nlabel='C'\ncommand=['c']", f'{FILE}: providers."A B".name:', "small letters"),
        ("[providers.mine]\nlike = 'nobody'", f"{FILE}: providers.mine.like:", "claude"),
        ("[providers.mine]\nlike = 1", f"{FILE}: providers.mine.like:", "int"),
        ("[providers.claude]\nbilling_of = 'nobody'", f"{FILE}: providers.claude.billing_of:", "nobody"),
        ("[providers.claude]\nbilling_of = 'claude'", f"{FILE}: providers.claude.billing_of:", "other"),
        (
            "[providers.claude.mcp_servers.docs]\nheaders = {}",
            f"{FILE}: providers.claude.mcp_servers.docs:",
            "a url or a command",
        ),
        (
            "[providers.claude.mcp_servers.docs]\nurl = 'ftp://docs'",
            f"{FILE}: providers.claude.mcp_servers.docs.url:",
            "http://",
        ),
        (
            "[providers.claude.mcp_servers.showcaller]\nurl = 'http://docs'",
            f"{FILE}: providers.claude.mcp_servers.showcaller",
            "another name",
        ),
        ("a = " + "[" * 5_000, f"{FILE}: it is no TOML", ""),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key_and_the_way_out(text: str, place: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_agents(text, FILE, shipped_agents())
    assert refused.value.code is Code.INVALID_INPUT
    assert refused.value.error.startswith(place)
    assert why in refused.value.error
    assert refused.value.error.endswith("Mend it, or move the file away.")


def test_a_file_with_too_many_tables_is_refused() -> None:
    tables = "".join(f"[providers.a{number}]\n" for number in range(MOST_ENTRIES + 1))
    with pytest.raises(Refusal, match=f"it may hold {MOST_ENTRIES} tables"):
        read_agents(tables, FILE)
