"""One copy of the checkout without faults for all tests, and one per test to plant faults in."""

from pathlib import Path

import pytest

from tests.arch import checkout
from tests.arch.checkout import LONGEST, ROOMS, ROOT, Checkout


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out where there is no checkout, and give those that run whole tools their time.

    An unpacked source distribution is none: it has no links.
    """
    for item in items:
        if isinstance(item, pytest.Function) and {"clean", "planted"} & set(item.fixturenames):
            item.add_marker(pytest.mark.timeout(LONGEST))
    if all((ROOT / "showcaller" / room).is_symlink() for room in ROOMS):
        return
    reason = pytest.mark.skip(reason="not a checkout: the three links of showcaller/ are missing")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(reason)


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Give a copy of the checkout that nobody may change."""
    return checkout.copy(tmp_path_factory.mktemp("clean"), tmp_path_factory.mktemp("caches"))


@pytest.fixture
def planted(tmp_path: Path, clean: Checkout) -> Checkout:
    """Give a copy of the checkout to plant faults in, with the caches that the clean one has filled."""
    return checkout.copy(tmp_path, clean.caches)
