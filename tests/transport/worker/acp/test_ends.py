"""What a turn of an agent came to, told from its answer and from what it said."""

from typing import Any

import pytest

from showcaller.transport.worker.acp.ends import (
    end_of_answer,
    end_of_death,
    end_of_error,
    error_class_of,
    error_words,
)


@pytest.mark.parametrize(
    ("stop_reason", "said", "tools", "became", "fails"),
    [
        ("end_turn", "hi", 0, "end", False),
        ("end_turn", "", 1, "end", False),
        ("end_turn", " \n", 0, "empty", True),
        ("max_tokens", "", 0, "length", False),
        ("max_turn_requests", "on", 3, "length", False),
        ("refusal", "no", 0, "refused", True),
        ("cancelled", "half", 0, "interrupted", True),
        ("end_turn", "API Error: 500 is what I saw in your log, and here is why", 2, "end", False),
    ],
)
def test_an_answer_is_an_end(stop_reason: str, said: str, tools: int, became: str, fails: bool) -> None:
    end = end_of_answer(stop_reason, said, tools)
    assert (end.stop_reason, end.error_text is not None, end.reply) == (became, fails, None)


@pytest.mark.parametrize(
    ("said", "error_class"),
    [
        ('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', "overloaded"),
        ("API Error: 401 invalid x-api-key · Please run /login", "auth"),
        ("Invalid API key · Please run /login", "auth"),
        ("Claude AI usage limit reached|1760000000", "rate_limit"),
        ("Credit balance is too low", "rate_limit"),
    ],
)
def test_a_known_error_text_is_no_reply(said: str, error_class: str) -> None:
    end = end_of_answer("end_turn", said, 0)
    assert (end.error_text, end.error_class, end.reply) == (said, error_class, "")


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("API Error: 429 slow down please", ""),
        ("429 slow down please", ""),
        ("Here is half of it.\n\nAPI Error: 429 slow down please", "Here is half of it."),
        ("Something else.", None),
        ("", None),
    ],
)
def test_the_error_is_taken_out_of_the_reply(said: str, left: str | None) -> None:
    assert end_of_error(-32603, "429 slow down please", None, said).reply == left


def test_a_wish_to_sign_in_is_known_by_its_code() -> None:
    end = end_of_error(-32000, "Authentication required", None, "")
    assert (end.error_class, end.error_text) == ("auth", "the agent wants a sign-in: Authentication required")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "Internal error"),
        ({"details": "no such model"}, "Internal error: no such model"),
        ({"error": {"message": "no such model"}}, "Internal error: no such model"),
        ("no such model", "Internal error: no such model"),
        ({"details": "Internal error: deep"}, "Internal error: deep"),
        ({"code": 7}, "Internal error"),
        ([1], "Internal error"),
    ],
)
def test_the_detail_of_an_error_is_found(data: Any, words: str) -> None:
    assert error_words("Internal error", data) == words


@pytest.mark.parametrize(
    ("text", "error_class"),
    [
        ("HTTP 503 Service Unavailable", "overloaded"),
        ("Rate limit reached for requests", "rate_limit"),
        ("status 403 Forbidden", "auth"),
        ("token has expired", "auth"),
        ("file 4291 of 5030 is broken", "other"),
        ("no space left on device", "other"),
    ],
)
def test_errors_have_classes(text: str, error_class: str) -> None:
    assert error_class_of(text) == error_class


def test_a_death_is_told_with_the_last_words() -> None:
    end = end_of_death("exited with code 1", "panic: no key")
    assert end.stop_reason == "died"
    assert end.error_text == (
        "the agent's process exited with code 1 before the turn had ended; it wrote last: panic: no key"
    )
