"""How a field is called in a result."""

KEPT = frozenset({"message_id", "question_id", "schedule_id", "subscription_id", "task_id"})
"""Fields that a caller passes back as arguments: they keep the argument's name."""


def result_name(name: str) -> str:
    """Give the name that a field has in a result: camelCase, unless it is passed back as an argument.

    Args:
        name: the snake_case name that the field has in Python.

    """
    if name in KEPT:
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
