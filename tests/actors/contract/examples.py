"""The smallest call of every action that has the right shape."""

from typing import Any, Final

SESSION: Final = "ses_3f9c2a1e7b0d"

SMALLEST: Final[dict[str, dict[str, Any]]] = {
    "list_relays": {},
    "relay_info": {"relay": "this"},
    "usage": {"relay": "this"},
    "list_sessions": {"relay": "this"},
    "read_session": {"relay": "this", "session": SESSION},
    "read_task_output": {"relay": "this", "session": SESSION, "task_id": "tsk_000000000000"},
    "send": {"relay": "this", "session": SESSION, "text": "Hello"},
    "create_session": {"relay": "this", "text": "Hello"},
    "update_session": {"relay": "this", "session": SESSION, "title": "New"},
    "wait": {"relay": "this", "session": SESSION, "message_id": "msg_000000000000"},
    "answer_question": {"relay": "this", "question_id": "q_000000000000", "answer": "Yes"},
    "stop": {"relay": "this", "session": SESSION},
    "archive": {"relay": "this", "session": SESSION},
    "subscribe": {"sessions": [SESSION]},
    "unsubscribe": {"subscription_id": "sub_000000000000"},
    "list_subscriptions": {},
    "transfer_subscriptions": {"from": SESSION},
    "schedule": {"text": "Hello", "every_minutes": 60},
    "list_schedules": {},
    "unschedule": {"schedule_id": "sch_000000000000"},
    "ask": {"question": "Now?"},
    "list_questions": {},
    "withdraw": {"question_id": "ask_000000000000"},
}


def smallest(action: str, **more: Any) -> dict[str, Any]:
    """Give the smallest call of an action, with further arguments."""
    return {"action": action, **SMALLEST[action], **more}
