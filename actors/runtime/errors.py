"""What the runtime raises beside pykka's own ``ActorDeadError`` and ``Timeout``."""


class RuntimeFault(Exception):
    """Base of the runtime's own errors."""


class DispatcherExhausted(RuntimeFault):
    """More handlers wait in ``future.get()`` than the dispatcher allows (``max_blocked``)."""


class AskCycle(RuntimeFault):
    """Waiting for this reply could never end: the actor that owes it waits for the asker."""


class ForeignAwaitable(RuntimeFault):
    """A handler awaited something that is not the runtime's; bridge it with ``on_loop``."""


class NothingToRun(RuntimeFault):
    """A test waits for a future that no step of the manual dispatcher can complete."""
