import pytest

from showcaller.actors.contract.errors import HTTP_STATUS, Code, Refusal, invalid


def test_every_code_has_one_status() -> None:
    assert set(HTTP_STATUS) == set(Code)
    assert {code for code in Code if code.http_status is None} == {Code.CALL_FAILED, Code.CANCELLED}
    assert {code.http_status for code in Code} == {400, 401, 403, 404, 409, 429, 500, 502, 503, 507, None}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (Code.INVALID_INPUT, 400),
        (Code.UNAUTHENTICATED, 401),
        (Code.INBOUND_DISABLED, 403),
        (Code.NOT_FOUND, 404),
        (Code.QUEUE_LIMIT, 409),
        (Code.RATE_LIMITED, 429),
        (Code.INTERNAL, 500),
        (Code.UNSUPPORTED, 502),
        (Code.UNAVAILABLE, 503),
        (Code.STORAGE, 507),
    ],
)
def test_a_code_has_the_status_of_the_contract(code: Code, status: int) -> None:
    assert code.http_status == status


def test_codes_carry_the_common_prefix() -> None:
    assert {code for code in Code if not code.startswith("REMOTE_RELAY_")} == {Code.INBOUND_DISABLED}
    assert Code.INBOUND_DISABLED.value == "REMOTE_INBOUND_DISABLED"


def test_a_refusal_is_a_result_that_an_agent_can_read() -> None:
    refusal = Refusal(
        Code.RATE_LIMITED, "Too many calls. Call again in 7 s.", retry_after_seconds=7, message_id="msg_1"
    )
    assert refusal.to_result() == {
        "ok": False,
        "code": "REMOTE_RELAY_RATE_LIMITED",
        "error": "Too many calls. Call again in 7 s.",
        "retryAfterSeconds": 7,
        "message_id": "msg_1",
    }
    assert str(refusal) == refusal.error


def test_a_malformed_argument_has_a_short_way_to_its_refusal() -> None:
    assert invalid("No.", folders=["/srv"]).to_result() == {
        "ok": False,
        "code": "REMOTE_RELAY_INVALID_INPUT",
        "error": "No.",
        "folders": ["/srv"],
    }
