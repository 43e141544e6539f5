"""The reference of the settings, made of what the program itself says of each."""

from showcaller.actors.contract.setting_facts import SettingFacts, setting_facts

HEAD = """\
# Reference: the settings

Written from the settings themselves by `python -m docs.generate`; change them in
`actors/contract/settings.py`. `showcaller settings` lists them as they are in force, `showcaller settings set
NAME VALUE` sets one from now on and for every later relay of the data folder, and the value `default` goes
back to its default. Switches take `on` and `off`, lists take texts with commas between (over HTTP, an array),
the others whole numbers. Each provider of yours in `providers.toml` has its switch
`providers.NAME.agents_may_start` too.

| setting | takes | default | what it is for |
| --- | --- | --- | --- |
"""


def settings_reference() -> str:
    """Give the whole text."""
    return HEAD + "\n".join(_row(fact) for fact in setting_facts()) + "\n"


def _row(fact: SettingFacts) -> str:
    if isinstance(fact.default, tuple):
        default = ", ".join(fact.default) or "none"
    else:
        default = ("on" if fact.default else "off") if fact.type == "switch" else f"{fact.default:,}"
    return f"| `{fact.name}` | {fact.takes} | {default} | {fact.description} |"
