"""Prompts that are queued later, once or again and again."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from showcaller.actors.contract.arguments import (
    Line64,
    Line200,
    Prompt,
    RecurrenceRule,
    SessionName,
    Switch,
    Time,
    YearMinutes,
    Zone,
)
from showcaller.actors.contract.calls.base import CallResult, OwnRelayCall
from showcaller.actors.contract.iso_times import read_time
from showcaller.actors.contract.views import Moment, ResultModel, SessionTitle

ScheduleEnd = Literal["unscheduled", "by_owner", "fired", "archived", "deleted"]


class Schedule(OwnRelayCall):
    """Queue a prompt later, in this conversation or in another session of this relay."""

    nothing: ClassVar[str] = "Nothing was scheduled."
    one_of: ClassVar[tuple[str, ...]] = ("at", "every_minutes", "rrule")

    action: Literal["schedule"] = "schedule"
    text: Prompt = Field(description="The prompt.")
    at: Time | None = Field(
        default=None,
        description="When it fires first: ISO 8601 with an offset or Z, or in the local time of tz.",
    )
    every_minutes: YearMinutes | None = Field(default=None, description="Fires again every so many minutes.")
    rrule: RecurrenceRule | None = Field(
        default=None,
        description="A rule of RFC 5545 in the local time of tz, as in FREQ=DAILY;BYHOUR=9;BYMINUTE=0.",
    )
    title: Line200 | None = Field(default=None, description="What the schedule is called.")
    session: SessionName | None = Field(
        default=None, description="The session to prompt; else this conversation."
    )
    once: Switch = Field(default=False, description="End after one firing.")
    tz: Zone | None = Field(
        default=None, description="An IANA time zone; rrule and a time without offset need it."
    )

    @model_validator(mode="after")
    def _times_go_together(self) -> Self:
        if self.rrule is not None and self.every_minutes is not None:
            raise ValueError("rrule and every_minutes do not go together; give one of them")
        if self.tz is None:
            if self.rrule is not None:
                raise ValueError("rrule needs tz, the time zone of its times")
            if self.at is not None and read_time(self.at).tzinfo is None:
                raise ValueError("at without an offset or Z needs tz, the time zone it is meant in")
        return self


class ScheduleView(ResultModel):
    """A schedule as it was made; ``next_fire_at`` is None, written as null, when it will not fire again."""

    null_said: ClassVar[frozenset[str]] = frozenset({"next_fire_at"})

    id: str
    title: str | None = None
    every_minutes: int | None = None
    rrule: str | None = None
    tz: str | None = None
    once: bool
    next_fire_at: Moment | None


class ScheduleResult(CallResult):
    """The answer to ``schedule``."""

    schedule_id: str
    schedule: ScheduleView


class ListSchedules(OwnRelayCall):
    """List schedules that fire in this conversation or that it made."""

    action: Literal["list_schedules"] = "list_schedules"


class ScheduleRow(ScheduleView):
    """A schedule in a list, active or ended in the last hour.

    ``set_by`` is the conversation that made it when that is another; ``text`` is its beginning;
    ``held_since`` is there while a firing waits for the human.
    """

    session: SessionTitle
    set_by: SessionTitle | None = None
    text: str
    at: Moment | None = None
    last_fired_at: Moment | None = None
    fired_count: int = Field(default=0, ge=0)
    skipped_count: int = Field(default=0, ge=0)
    held_for_approval: bool = False
    held_since: Moment | None = None
    ended_at: Moment | None = None
    end_reason: ScheduleEnd | None = None


class ListSchedulesResult(CallResult):
    """The answer to ``list_schedules``."""

    schedules: tuple[ScheduleRow, ...]


class Unschedule(OwnRelayCall):
    """End a schedule that fires in this conversation or that it made."""

    action: Literal["unschedule"] = "unschedule"
    schedule_id: Line64 = Field(description="The schedule's id.")


class UnscheduleResult(CallResult):
    """The answer to ``unschedule``."""

    schedule_id: str
    end_reason: ScheduleEnd = "unscheduled"
