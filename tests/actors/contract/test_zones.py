import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.zones import find_zone, instant, local_time

NAMES = sorted(zoneinfo.available_timezones() - {"Factory", "localtime"})
LOCAL_TIMES = st.datetimes(datetime.fromisoformat("1971-01-01"), datetime.fromisoformat("2099-12-31"))


def test_every_zone_of_the_database_is_found() -> None:
    assert [name for name in NAMES if find_zone(name) is None] == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Berlin",
        "utc",
        "UTC+3",
        "Europe",
        "Europe/",
        "europe/berlin\0",
        "/usr/share/zoneinfo/Europe/Berlin",
        "../zoneinfo/UTC",
        "Europe/../UTC",
        ":Europe/Berlin",
        "localtime",
        "posixrules",
        "Factory",
        "posix/Europe/Berlin",
        "right/UTC",
        "EST5EDT4,M3.2.0,M11.1.0",
        "AEST-10AEDT",
        "zone.tab",
        "tzdata.zi",
        "\uff21merica/New_York",
        "A" * 65,
    ],
)
def test_anything_else_is_no_zone(name: str) -> None:
    assert find_zone(name) is None


@pytest.mark.parametrize("host", ["Europe/Berlin", "XYZ-3", ":America/New_York"])
def test_the_zone_of_the_host_is_never_meant(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", host)
    assert find_zone("") is None
    assert find_zone("XYZ") is None


@given(st.text(max_size=80))
def test_any_text_gives_a_zone_of_the_database_or_none(text: str) -> None:
    if find_zone(text) is not None:
        assert text in NAMES


@given(st.sampled_from(NAMES), LOCAL_TIMES)
def test_a_local_time_means_the_first_instant_at_which_clocks_show_it_or_more(
    name: str, local: datetime
) -> None:
    zone, other = find_zone(name), zoneinfo.ZoneInfo(name)
    assert zone is not None
    local = local.replace(microsecond=0)
    found = instant(local, zone)
    first = local.replace(tzinfo=other, fold=0).astimezone(UTC)
    if first.astimezone(other).replace(tzinfo=None, fold=0) == local:
        assert found == first
    else:
        assert found.astimezone(other).replace(tzinfo=None) > local
        assert (found - timedelta(seconds=1)).astimezone(other).replace(tzinfo=None) < local


@pytest.mark.parametrize(
    ("zone", "local", "meant"),
    [
        ("Europe/Berlin", datetime.fromisoformat("2027-03-28T02:30"), datetime(2027, 3, 28, 1, tzinfo=UTC)),
        (
            "Europe/Berlin",
            datetime.fromisoformat("2026-10-25T02:30"),
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        ),
        (
            "Australia/Lord_Howe",
            datetime.fromisoformat("2026-10-04T02:15"),
            datetime(2026, 10, 3, 15, 30, tzinfo=UTC),
        ),
        ("Pacific/Apia", datetime.fromisoformat("2011-12-30T12:00"), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        (
            "Asia/Kathmandu",
            datetime.fromisoformat("2026-01-01T12:00"),
            datetime(2026, 1, 1, 6, 15, tzinfo=UTC),
        ),
        ("UTC", datetime.fromisoformat("2026-01-01T12:00"), datetime(2026, 1, 1, 12, tzinfo=UTC)),
    ],
)
def test_a_skipped_time_means_the_jump_and_a_repeated_one_its_first_pass(
    zone: str, local: datetime, meant: datetime
) -> None:
    found = find_zone(zone)
    assert found is not None
    assert instant(local, found) == meant
    assert local_time(meant, found) >= local
