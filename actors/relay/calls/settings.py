"""With what a prompt runs: provider, model, mode, effort, group and folder, checked before it is stored."""

from typing import NamedTuple

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.summaries import SHORT_ID
from showcaller.actors.relay import prompts
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.calls.targets import find_group


class Start(NamedTuple):
    """With what a new session is started."""

    provider: str
    model_source: results.ModelSource
    mode: str
    cwd: str
    group: Row | None


async def check_start(context: CallContext, call: calls.CreateSession) -> Start:
    """Say with what a session would be started; raises the ``Refusal`` of what is not to be had."""
    provider = call.provider or "command"
    prompts.check_provider(provider, call.nothing, context.ports.providers)
    context.notes.extend(prompts.check_settings(call, provider))
    group = None if call.group is None else await find_group(context, call.group)
    return Start(
        provider=provider,
        model_source="default" if call.provider is None else "requested",
        mode=call.mode or "agent",
        cwd=prompts.working_folder(call.cwd, context.ports.default_folder),
        group=group,
    )


def check_send(context: CallContext, call: calls.Send, row: Row) -> None:
    """Refuse what the session's provider does not have."""
    provider = row["provider"]
    if call.provider is not None and call.provider != provider:
        raise Refusal(
            Code.PROVIDER_UNAVAILABLE,
            f"Session {row['id'][SHORT_ID]} runs {provider} and cannot change to "
            f"{quote_foreign(call.provider)}. {call.nothing}",
            providers=[provider],
        )
    context.notes.extend(prompts.check_settings(call, provider))
