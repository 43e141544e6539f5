"""Every failpoint is listed, and every operation of a port has one."""

import inspect
from pathlib import Path

import pytest

from showcaller.actors.relay.ports import ReaderPort, WorkerPort, WriterPort
from tests.crash.failpoints import FROM_WORKER, NAMES, TO_WORKER, Failpoints

PORTS = {"writer": WriterPort, "reader": ReaderPort, "workers": WorkerPort}


def operations(port: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(port, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize("port", PORTS)
def test_every_operation_of_a_port_has_failpoints(port: str) -> None:
    listed = {name.split(".")[1] for name in NAMES if name.startswith(f"{port}.")}
    missing = [name for name in operations(PORTS[port]) if name not in listed]
    assert missing == [], "add them to tests/crash/failpoints.py and ports.py"


def test_every_kind_of_message_has_failpoints() -> None:
    for way, kinds in (("send", TO_WORKER), ("deliver", FROM_WORKER)):
        for kind in kinds:
            assert f"workers.{way}.{kind}.before" in NAMES
            assert f"workers.{way}.{kind}.after" in NAMES


def test_a_point_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not listed"):
        Failpoints(tmp_path).reach("writer.nowhere")
    with pytest.raises(ValueError, match="no such"):
        Failpoints(tmp_path, ["writer.nowhere@1"])
