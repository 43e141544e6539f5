"""How a command says that its guard did not hold."""


class Conflict(Exception):
    """The command was not carried out because what it expects is not so.

    ``what`` is a fixed word for programs (such as ``archived``); ``detail`` is one sentence for people.
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(detail)
        self.what = what
        self.detail = detail
