"""The providers that every worker has."""

from collections.abc import Mapping

from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.command import CommandProvider
from showcaller.transport.worker.providers import Providers


def built_in_providers(environment: Mapping[str, str] | None = None) -> Providers:
    """Make the table of the built-in providers: ``command`` and ``callable``.

    ``environment`` is that of the commands, beside their turns' own; None for this process's, as it is then.
    """
    return Providers({"command": CommandProvider(environment), "callable": CallableProvider()})
