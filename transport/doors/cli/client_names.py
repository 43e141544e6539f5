"""Names of clients and their tokens, checked where they are typed."""

import click

from showcaller.actors.contract.token_names import check_token_name


class ClientName(click.ParamType[str]):
    """An option's value that a token, and the file that it is kept in, may be called."""

    name = "name"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the name, or fail as a usage error."""
        try:
            return check_token_name(str(value))
        except ValueError as error:
            self.fail(f"the name {error}.", param, ctx)


CLIENT_NAME = ClientName()
