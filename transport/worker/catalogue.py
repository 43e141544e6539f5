"""The providers that every worker has."""

from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.command import CommandProvider
from showcaller.transport.worker.providers import Providers


def built_in_providers() -> Providers:
    """Make the table of the built-in providers: ``command`` and ``callable``."""
    return Providers({"command": CommandProvider(), "callable": CallableProvider()})
