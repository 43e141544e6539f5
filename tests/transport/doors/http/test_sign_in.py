"""The cookie of a browser that has signed in is found among whatever cookies other programs have set."""

import pytest

from showcaller.transport.doors.http.sign_in import SignIns


@pytest.mark.parametrize(
    "other",
    ['prefs={"theme":"dark"}', "name=a b", "flag", "a/b=1", "a@b=1", "=v", "a[]=1", 'open="quote', "ä=ö"],
)
def test_a_cookie_of_another_program_is_in_nobodys_way(other: str) -> None:
    sign_ins = SignIns(lambda: 0.0, 8000)
    own = f"{sign_ins.cookie}={sign_ins.sign_in(sign_ins.new_code())}"
    assert sign_ins.browser_of(f"{other}; {own}") is not None
    assert sign_ins.browser_of(f"{own}; {other}") is not None
    assert sign_ins.browser_of(other) is None
