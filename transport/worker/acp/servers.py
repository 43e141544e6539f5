"""Which MCP servers an agent is given, and how: by address where it takes that, else as a program. Pure."""

from collections.abc import Mapping, Sequence

from acp import schema

from showcaller.actors.contract.agent_messages import AgentSpec, McpServer
from showcaller.transport.worker.environment import TOKEN_VARIABLE

Server = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio


def servers_for(spec: AgentSpec, told: Mapping[str, str], *, takes_http: bool) -> list[Server]:
    """Give the servers as the protocol has them; ``told`` are the turn's variables, its token among them.

    One that can be reached in no way that the agent takes is left out.
    """
    by_url = takes_http and spec.mcp in {"http", "both"}
    by_command = spec.mcp in {"stdio", "both"}
    given = [_given(server, told, by_url=by_url, by_command=by_command) for server in spec.servers]
    return [server for server in given if server is not None]


def _given(
    server: McpServer, told: Mapping[str, str], *, by_url: bool, by_command: bool
) -> schema.HttpMcpServer | schema.McpServerStdio | None:
    token = told.get(TOKEN_VARIABLE) if server.has_token else None
    if by_url and server.url is not None:
        headers = server.headers if token is None else {**server.headers, "Authorization": f"Bearer {token}"}
        return schema.HttpMcpServer(type="http", name=server.name, url=server.url, headers=_headers(headers))
    if by_command and server.command:
        variables = {**server.environment, **(told if server.has_token else {})}
        return schema.McpServerStdio(
            name=server.name,
            command=server.command[0],
            args=_listed(server.command[1:]),
            env=[schema.EnvVariable(name=name, value=value) for name, value in variables.items()],
        )
    return None


def _headers(headers: Mapping[str, str]) -> list[schema.HttpHeader]:
    return [schema.HttpHeader(name=name, value=value) for name, value in headers.items()]


def _listed(arguments: Sequence[str]) -> list[str]:
    return list(arguments)
