"""The providers that every worker has."""

from collections.abc import Mapping

from showcaller.transport.worker.acp.provider import AcpProvider
from showcaller.transport.worker.callable import CallableProvider
from showcaller.transport.worker.callable_in_children import ChildCallableProvider
from showcaller.transport.worker.command import CommandProvider
from showcaller.transport.worker.providers import Providers


def built_in_providers() -> Providers:
    """Make the table for a worker in a program's own process, whose threads run the functions."""
    return Providers({"command": CommandProvider(), "callable": CallableProvider()}, AcpProvider())


def process_providers(environment: Mapping[str, str]) -> Providers:
    """Make the table for a worker process, whose children run the functions.

    ``environment`` is that of commands, functions and agents, beside their turns' own.
    """
    return Providers(
        {"command": CommandProvider(environment), "callable": ChildCallableProvider(environment)},
        AcpProvider(environment),
    )
