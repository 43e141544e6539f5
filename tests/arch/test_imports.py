"""Every import contract breaks at an import that it forbids, and no folder answers to a name of its own."""

from configparser import ConfigParser

import pytest

from tests.arch.checkout import ROOMS, ROOT, Checkout, python_run

FORBIDDEN = [
    ("rooms", "store/planted.py", "showcaller.actors.relay.ports"),
    ("rooms", "actors/relay/planted.py", "showcaller.transport"),
    ("rooms", "transport/wire/planted.py", "showcaller.entry"),
    ("actors", "actors/runtime/planted.py", "showcaller.actors.contract.worker"),
    ("actors", "actors/contract/planted.py", "showcaller.actors.relay.ports"),
    ("transport", "transport/wire/planted.py", "showcaller.transport.links"),
    ("transport", "transport/worker/planted.py", "showcaller.transport.placement"),
    ("doors", "transport/doors/planted.py", "showcaller.transport.worker"),
    ("front-door", "transport/links/planted.py", "showcaller"),
    ("transport-store", "transport/doors/planted.py", "showcaller.store.batch"),
    ("worker", "transport/worker/planted.py", "showcaller.store.batch"),
    ("worker", "transport/worker/planted.py", "showcaller.actors.relay.ports"),
    ("worker", "transport/worker/planted.py", "showcaller.actors.runtime"),
    ("worker", "transport/worker/planted.py", "showcaller.transport.doors"),
    ("foundations", "actors/runtime/planted.py", "showcaller.store.batch"),
    ("foundations", "actors/contract/planted.py", "showcaller.store.batch"),
    ("store", "store/planted.py", "showcaller.transport"),
]


def contracts() -> dict[str, str]:
    """Read the contracts of setup.cfg: their names by id."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    prefix = "importlinter:contract:"
    return {
        section.removeprefix(prefix): config[section]["name"]
        for section in config.sections()
        if section.startswith(prefix)
    }


def test_every_contract_has_a_planted_fault() -> None:
    assert {contract for contract, _, _ in FORBIDDEN} == set(contracts())


@pytest.mark.slow
def test_all_contracts_are_kept(clean: Checkout) -> None:
    outcome = clean.imports()
    assert outcome.code == 0, outcome.text
    assert f"Contracts: {len(contracts())} kept, 0 broken." in outcome.text


@pytest.mark.slow
@pytest.mark.parametrize(("contract", "module", "imported"), FORBIDDEN)
def test_a_forbidden_import_breaks_its_contract(
    planted: Checkout, contract: str, module: str, imported: str
) -> None:
    planted.plant(module, f'"""A planted fault."""\n\nimport {imported}\n')
    outcome = planted.imports(contract)
    importer = "showcaller." + module.removesuffix(".py").replace("/", ".")
    assert outcome.code == 1, outcome.text
    assert f"{contracts()[contract]} BROKEN" in outcome.text
    assert f"{importer} -> {imported} (" in outcome.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "module"),
    [
        ("rooms", "showcaller/planted.py"),
        ("actors", "actors/planted/nothing.py"),
        ("transport", "transport/planted/nothing.py"),
    ],
)
def test_a_room_that_no_contract_knows_is_reported(planted: Checkout, contract: str, module: str) -> None:
    planted.plant(module, '"""A room that setup.cfg does not list."""\n')
    outcome = planted.imports(contract)
    assert outcome.code == 1, outcome.text
    assert "not listed as layers" in outcome.text


@pytest.mark.parametrize("room", ROOMS)
def test_a_folder_refuses_every_other_import_name_in_one_line(room: str) -> None:
    outcome = python_run("-c", f"import {room}", cwd=ROOT)
    assert outcome.code == 1
    assert outcome.text.splitlines()[-1].startswith(
        f"ImportError: import showcaller.{room}: the folder {room}/"
    )


FIND_ALL = """
import importlib, pkgutil, sys
import showcaller.transport.worker as worker
found = [module.name for module in pkgutil.walk_packages(worker.__path__, worker.__name__ + ".")]
for name in found:
    importlib.import_module(name)
print("looked at", len(found))
print([name for name in sys.modules if name.split(".")[0] == "peewee" or name.startswith("showcaller.store")])
"""


def test_a_worker_loads_no_database() -> None:
    outcome = python_run("-c", FIND_ALL, cwd=ROOT)
    looked, loaded = outcome.text.splitlines()
    assert looked.startswith("looked at ")
    assert int(looked.split()[-1]) > 0
    assert loaded == "[]"


def test_a_worker_loads_nothing_of_agents_before_one_is_to_run() -> None:
    code = (
        "import sys, showcaller.transport.worker.catalogue as c; c.process_providers({}); "
        "print([m for m in ('acp', 'showcaller.transport.worker.acp.seats') if m in sys.modules])"
    )
    assert python_run("-c", code, cwd=ROOT) == (0, "[]\n")


def test_the_package_itself_loads_nothing_heavy() -> None:
    heavy = ("peewee", "pydantic", "zmq", "msgpack", "pykka", "click", "rich", "showcaller.actors")
    outcome = python_run(
        "-c", f"import sys, showcaller; print([m for m in {heavy} if m in sys.modules])", cwd=ROOT
    )
    assert outcome == (0, "[]\n")
