"""Which providers a fan-out may prompt: one whose every item could only fail is refused at once. Pure."""

from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.provider_entries import ProviderCatalogue
from showcaller.actors.contract.provider_states import FindProgram
from showcaller.actors.relay.prompts import check_installed, check_provider, check_work

NOTHING = "Nothing was started."


def check_prompted(spec: FanoutSpec | None, known: ProviderCatalogue, find: FindProgram) -> None:
    """Refuse a provider that is not there, or that no fan-out can prompt; raises ``Refusal``.

    Commands and functions have fan-outs of their own, in which items are quoted, or no text at all. One that
    is gone on with has no ``spec`` here: it was looked at when it began.
    """
    if spec is None or spec.kind != "prompt":
        return
    entry = check_provider(spec.provider, NOTHING, known)
    if entry.runs_lines or entry.kind == "callable":
        way = "as a command line, such as 'wc -l {}'" if entry.runs_lines else "with --callable"
        raise invalid(f"{entry.provider} takes no prompts in a fan-out: name what runs {way}. {NOTHING}")
    if entry.takes == "repo":
        raise invalid(f"{entry.provider} works on a fresh clone, and no fan-out names one. {NOTHING}")
    check_installed(entry, NOTHING, find)
    check_work(spec.provider, known, NOTHING, find)
