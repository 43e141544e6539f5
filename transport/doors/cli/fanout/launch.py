"""Starting a fan-out, or going on with one, and driving it to its end."""

from collections.abc import Callable, Mapping
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import Summary
from showcaller.actors.runtime.clock import SYSTEM_CLOCK
from showcaller.transport.doors.cli.candidates import Candidate, candidate_lines
from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError, refused
from showcaller.transport.doors.cli.fanout.drive import drive, resume_line
from showcaller.transport.doors.cli.fanout.interrupts import Interrupts
from showcaller.transport.doors.cli.fanout.items import notes, read_items, template_note
from showcaller.transport.doors.cli.fanout.options import Format, Options, spec_of
from showcaller.transport.doors.cli.fanout.results import sink_for
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import note, take_standard_output
from showcaller.transport.doors.cli.relay import Door, FanoutRun, LocalRelay
from showcaller.transport.doors.cli.signals import INTERRUPTED
from showcaller.transport.doors.cli.times import local_time

Begin = Callable[[LocalRelay], FanoutRun]


def launch(door: Door, options: Options, form: Format, *, quiet: bool) -> int:
    """Carry out checked options and give the exit code. Main thread only.

    Raises ``CommandError`` or ``click.UsageError`` when it cannot be done.
    """
    if options.resume is not None:
        return _go_on(door, options.resume, options, form, quiet=quiet)
    spec = spec_of(options)
    items = read_items(options.item_words, options.input)
    if not items:
        sink_for(form).end(Summary())
        note("No items: nothing was started.")
        return GOOD
    if not quiet:
        unfilled = template_note(options.words) if options.kind == "callable" else None
        for line in (*([unfilled] if unfilled else []), *notes(spec.parsed(), items)):
            note(line)
    values = [item.value for item in items]
    return _run(door, lambda relay: relay.start_fanout(spec, values), form, quiet=quiet)


def _go_on(door: Door, group: str, options: Options, form: Format, *, quiet: bool) -> int:
    if door.is_empty:
        raise CommandError(f"No fan-out {group!r}: {door.home} holds none.", code=NOT_FOUND)
    rerun = not options.no_rerun
    return _run(
        door,
        lambda relay: relay.resume_fanout(group, rerun=rerun, jobs=options.jobs),
        form,
        quiet=quiet,
    )


def _run(door: Door, begin: Begin, form: Format, *, quiet: bool) -> int:
    take_standard_output()
    with opened(door, read_only=False) as relay, Interrupts(SYSTEM_CLOCK.monotonic) as interrupts:
        try:
            run = begin(relay)
        except Refusal as refusal:
            raise refused(refusal.to_result(), _way_out(refusal, relay, door)) from refusal
        try:
            sink = sink_for(form)
            return drive(run, sink, door, interrupts, SYSTEM_CLOCK.monotonic, quiet=quiet)
        except Refusal as refusal:
            error = refused(refusal.to_result(), f"To go on: {resume_line(door, run)}")
            if interrupts.signalled:
                error.code = INTERRUPTED
            raise error from refusal


def _way_out(refusal: Refusal, relay: LocalRelay, door: Door) -> str | None:
    """Say what the person can do who was refused: for a name of several fan-outs, which there are."""
    lines = []
    if refusal.fields.get("ambiguous"):
        known = {fanout["group"]: fanout for fanout in relay.list_fanouts()}
        meant = [(each["id"], each["name"], known.get(each["id"])) for each in refusal.fields["groups"]]
        lines.append(candidate_lines([_candidate(*each) for each in meant]))
    elif refusal.code is Code.UNKNOWN_GROUP:
        lines.append(f"To see what there is: {door.command_line('fanouts')}")
    if "Nothing was started." not in refusal.error:
        lines.append("Nothing was started.")
    return "\n".join(lines) or None


def _candidate(group: str, name: str, fanout: Mapping[str, Any] | None) -> Candidate:
    if fanout is None:
        return (group, name)
    ended = f"{fanout['ended']:,} of {fanout['items']:,} items ended"
    return (group, name, local_time(fanout["createdAt"]), ended)
