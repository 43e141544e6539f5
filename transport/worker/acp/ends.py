"""What a turn of an agent came to: its end, told from what the agent answered, said and did. Pure."""

import re
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.worker import ErrorClass, StopReason

AUTH_REQUIRED: Final = -32000
"""The JSON-RPC code with which an agent says that somebody has to sign in."""
SHORT: Final = 2_000
"""Characters up to which a whole reply may be an error text that only looks like one."""

TELLING: Final = 10
"""Characters from which on a text is the same as another by no accident."""

_WORDS: Final[dict[ErrorClass, str]] = {
    "rate_limit": r"\b429\b|rate.?limit|too many requests|usage limit|quota|resource.?exhausted"
    r"|insufficient.?credit|credit balance",
    "overloaded": r"\b(?:502|503|529)\b|overloaded|service unavailable|at capacity|server is busy",
    "auth": r"\b401\b|\b403\b|unauthori[sz]ed|authenticat|invalid.{0,20}(?:api.?key|token)|sign.?in|/login"
    r"|(?:api.?key|token).{0,20}(?:invalid|expired|missing)|(?:not|please) log(?:ged)? ?in",
}
_CLASSES: Final[dict[ErrorClass, re.Pattern[str]]] = {
    name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()
}
_SPOKEN_ERRORS: Final = re.compile(
    r"\s*(?:API Error: (?:\d{3}\b|Connection error|Request timed out)|Invalid API key\b|Please run /login\b"
    r"|Claude(?: AI)? usage limit reached|Credit balance is too low|OAuth token (?:has expired|revoked)"
    r"|stream error: |unexpected status \d{3}\b|exceeded retry limit, last status: \d{3}\b"
    r"|You've hit your usage limit\b)",
    re.IGNORECASE,
)
"""How replies begin that are no replies: known agents say what went wrong as if the model had said it."""
_ANNOUNCED: Final = re.compile(r"(?:API )?Error: *$", re.IGNORECASE)


class TurnResult(NamedTuple):
    """What a turn came to; ``reply`` is what was said without the error text, None where it had none."""

    stop_reason: StopReason = "end"
    error_text: str | None = None
    error_class: ErrorClass | None = None
    reply: str | None = None


def end_of_answer(stop_reason: str, said: str, tools: int) -> TurnResult:
    """Give the end of a turn that the agent has answered with a reason to stop.

    ``said`` is its reply, and ``tools`` how many tool calls it made. A turn with neither is never a success,
    and nor is one whose whole reply is an error text that is known.
    """
    if stop_reason == "refusal":
        return TurnResult("refused", "the agent refused to go on with this conversation", "other")
    if stop_reason == "cancelled":
        return TurnResult(
            "interrupted", "the agent cancelled the turn by itself; it may have run in part", "other"
        )
    if not tools and len(said) <= SHORT and _SPOKEN_ERRORS.match(said):
        return TurnResult("end", said.strip(), error_class_of(said), "")
    if stop_reason in {"max_tokens", "max_turn_requests"}:
        return TurnResult("length")
    if not said.strip() and not tools:
        return TurnResult(
            "empty", "the agent ended its turn without a word and without using a tool", "other"
        )
    return TurnResult()


def end_of_error(code: int, text: str, data: Any, said: str) -> TurnResult:
    """Give the end of a turn that the agent has answered with a JSON-RPC error.

    Agents say the same text as a message before: that is then no reply.
    """
    told = error_words(text, data)
    if code == AUTH_REQUIRED:
        return TurnResult("end", f"the agent wants a sign-in: {told}", "auth", _without(told, said))
    return TurnResult("end", told, error_class_of(told), _without(told, said))


def end_of_death(how: str, last_words: str) -> TurnResult:
    """Give the end of a turn whose agent process ended before it; ``how`` says how, in words."""
    behind = f"; it wrote last: {last_words}" if last_words else ""
    told = f"the agent's process {how} before the turn had ended{behind}"
    return TurnResult("died", told, error_class_of(last_words))


def error_words(text: str, data: Any) -> str:
    """Give one text for a JSON-RPC error, with the detail that agents hide in its data."""
    detail = data
    if isinstance(data, dict):
        detail = next((data[name] for name in ("details", "message", "error") if name in data), None)
    if isinstance(detail, dict):
        detail = detail.get("message")
    if not isinstance(detail, str) or not detail.strip() or detail in text:
        return text
    return detail.strip() if text in detail else f"{text}: {detail.strip()}"


def error_class_of(text: str) -> ErrorClass:
    """Give the class of an error by the words that are known of agents and their models."""
    for name, words in _CLASSES.items():
        if words.search(text):
            return name
    return "other"


def _without(told: str, said: str) -> str | None:
    """Give what is left of a reply without the error text at its end; None when that is not in it."""
    reply, error = said.strip(), told.strip()
    if len(reply) <= SHORT and (_SPOKEN_ERRORS.match(reply) or (len(reply) >= TELLING and reply in error)):
        return ""
    if len(error) >= TELLING and reply.endswith(error):
        return _ANNOUNCED.sub("", reply.removesuffix(error)).rstrip()
    return None
