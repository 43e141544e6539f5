"""The limits of the contract, each with its unit; one that is a setting has its default and its range."""

from typing import Final, NamedTuple


class Setting(NamedTuple):
    """A limit that the owner can set: its default and the range that is taken, both ends included."""

    default: int
    lowest: int
    highest: int


CALLS_PER_MINUTE: Final = 60
"""Calls of one conversation in a sliding minute."""
WRITES_PER_MINUTE: Final = 10
"""Writes among them."""

QUEUED_MESSAGES: Final = 100
"""Messages waiting in one session's queue."""
ACTIVE_SESSIONS: Final = Setting(4, 1, 64)
"""Sessions at work that one conversation's agent started (``max_active_sessions``)."""
HOPS: Final = 2
"""Hops from which a prompt is not passed on to a third relay."""
PROMPTS_UNASKED: Final = 30
"""Prompts to other agents with no word from the human in between."""

SUBSCRIPTIONS_HELD: Final = 20
"""Subscriptions that a conversation holds."""
SCHEDULES_FIRING: Final = 20
"""Schedules that fire in a conversation."""
SCHEDULES_FOR_OTHERS: Final = 20
"""Schedules that a conversation creates for others."""
QUESTIONS_PER_ASKER: Final = 20
"""Pending non-blocking questions of one asker."""
QUESTIONS_PER_SESSION: Final = 20
"""Pending non-blocking questions in one session."""

WAKEUPS_PER_HOUR: Final = Setting(20, 0, 10_000)
"""Wake-ups of one watcher in a sliding hour, then a digest (``wakeups_per_hour``); 0 for no cap."""
WAKEUP_DIGEST_MINUTES: Final = 10
"""Minutes between the digests beyond that cap."""
COALESCE_SECONDS: Final = Setting(30, 0, 3600)
"""Seconds within which events belong in one message (``coalesce_seconds``)."""
WAKE_EVENTS: Final = 100
"""Events in one wake message."""
WAKE_CHARACTERS: Final = 20_000
"""Characters of one wake message."""

GIVEN_MESSAGES: Final = 100
"""Messages that one answer to an external conversation carries."""
GIVEN_CHARACTERS: Final = 20_000
"""Characters of their texts, unless the first alone has more."""

LINK_EVENTS: Final = 500
"""Events of one subscription that are kept for a link that is down."""
LINK_EVENT_DAYS: Final = 7
"""Days for which they are kept."""
LOG_DAYS: Final = Setting(7, 1, 3650)
"""Days for which the event log is kept."""
LOG_EVENTS: Final = Setting(1_000_000, 1000, 1_000_000_000)
"""Events that the log keeps."""
ENDED_LISTED_MINUTES: Final = 60
"""Minutes for which ended subscriptions and schedules stay listed."""
QUESTIONS_LISTED_HOURS: Final = 24
"""Hours for which ended non-blocking questions stay listed."""
TASK_OUTPUT_MINUTES: Final = 60
"""Minutes for which an ended task's output can be read."""
TASK_OUTPUT_KEPT: Final = 64 * 1024
"""Characters, from its end, that are kept of a task's raw output."""
TASKS_PER_SESSION: Final = 16
"""Commands that one session may have in the background."""
TASKS_PER_WORKER: Final = 128
"""Commands that one worker may have in the background."""
CARD_HOURS: Final = 8
"""Hours that a card lives."""
IDEMPOTENCY_DAYS: Final = 7
"""Days for which a write's client id gives its first result again."""

TURN_MINUTES: Final = Setting(60, 0, 600)
"""Minutes of one turn (``max_turn_minutes``); 0 for no limit."""
LONGEST_WAIT_MINUTES: Final = Setting(10, 2, 60)
"""Minutes that one call waits at most (``longest_wait_minutes``)."""
QUIET_AFTER_MINUTES: Final = Setting(10, 1, 1440)
"""Minutes without output after which a task is marked as quiet (``quiet_after_minutes``)."""
PROGRESS_SECONDS: Final = 25
"""Seconds between progress notifications of a waiting call."""
IMPATIENT_SECONDS: Final = 45
"""Seconds after which a client that may drop long calls gets its answer."""
DEFAULT_WAIT_SECONDS: Final = 120
"""Seconds that a call waits when it does not say."""

LINK_REQUEST_SECONDS: Final = 15
"""Seconds for one request to a paired relay."""
LINK_ANSWER_BYTES: Final = 5 * 1024 * 1024
"""Bytes of its answer."""
START_SECONDS: Final = 180
"""Seconds for an agent's start and handshake."""

CALL_BYTES: Final = 1024 * 1024
"""Bytes of JSON that one call takes."""
CALL_PARTS: Final = 10_000
"""Values in the JSON of one call, whatever holds them: many small ones cost far more than a long text."""
TEXT_CHARACTERS: Final = 100_000
"""Characters of one prompt."""
QUESTION_CHARACTERS: Final = 2000
"""Characters of a non-blocking question."""
DETAIL_CHARACTERS: Final = 10_000
"""Characters of what is said beside it."""
RECOMMENDATION_CHARACTERS: Final = 500
"""Characters of the asker's recommendation."""
OPTIONS: Final = 10
"""Options of a non-blocking question."""
OPTION_CHARACTERS: Final = 200
"""Characters of one of them."""
CHOICES: Final = 50
"""Labels in the answer to a card."""
CHOICE_CHARACTERS: Final = 1000
"""Characters of one of them."""
WATCHED_NAMED: Final = 1000
"""Sessions that one call watches from outside."""
EVENTS_PER_PAGE: Final = 1000
"""Events in one answer of the log."""
INBOX_ITEMS: Final = 1000
"""Questions in one page of the inbox."""
OUTPUT_LINES: Final = 1000
"""Lines of a session's output in one answer."""
OUTPUT_LINE_CHARACTERS: Final = 20_000
"""Characters of one of them; a longer one comes in pieces."""
SESSIONS_NAMED: Final = 100
"""Sessions that a subscription names, or leaves out."""
MATCH_TEXTS: Final = 10
"""Texts that a subscription matches."""
MATCH_CHARACTERS: Final = 200
"""Characters of one of them."""
WINDOW_TOKENS: Final = 10_000_000
"""Tokens at which a conversation may be compacted by its agent at most."""
RULE_CHARACTERS: Final = 500
"""Characters of a recurrence rule."""
STALLED_MINUTES: Final = 15
"""Minutes without a sign after which a turn or task is stalled, when a subscription does not say."""
SCHEDULE_YEARS: Final = 5
"""Years ahead within which a schedule fires first."""
REPLY_CHARACTERS: Final = 8000
"""Characters of a reply in a call's result."""
PROGRESS_CHARACTERS: Final = 600
"""Characters of a reply in progress in a call's result."""
PROGRESS_ACTIVITIES: Final = 5
"""Lines of activity beside it."""
ACTIVITY_LINES: Final = 100
"""Lines that are kept of what an agent did in one turn beside its text, the last ones."""
ACTIVITY_CHARACTERS: Final = 10_000
"""Characters of them."""
IGNORED_NAMES: Final = 20
"""Names of arguments that an action did not take, in its result."""
GROUPS_LISTED: Final = 50
"""Groups that ``relay_info`` lists."""
GROUPS_SUGGESTED: Final = 20
"""Groups in a refusal."""
GROUPS_ORDERED: Final = 1000
"""Groups that the owner can put into an order."""
