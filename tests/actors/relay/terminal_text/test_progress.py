"""Progress displays as well-known programs draw them leave their last picture."""

from showcaller.actors.relay.terminal_text import render_tail

ESC = "\x1b"


def shown(raw: str) -> list[str]:
    return list(render_tail(raw, 500).lines)


def test_a_bar_that_is_redrawn_after_a_carriage_return() -> None:
    steps = "".join(
        f"\r{done:3d}%|{'█' * (done // 10):<10}| {done}/100 [00:01<00:00]" for done in range(0, 101, 5)
    )
    assert shown(f"load\n{steps}\ndone\n") == ["load", "100%|██████████| 100/100 [00:01<00:00]", "done"]


def test_a_shorter_text_does_not_hide_the_end_of_a_longer_one() -> None:
    assert shown("loading 10 files\rloaded") == ["loadedg 10 files"]


def test_a_bar_with_a_hidden_cursor_that_is_erased_first() -> None:
    steps = [
        f"\r{ESC}[2K   {ESC}[38;5;197m{'━' * n}{ESC}[0m {n}.0/9.0 MB {ESC}[36m0:00:01{ESC}[0m"
        for n in range(10)
    ]
    assert shown(f"Downloading\n{ESC}[?25l{''.join(steps)}\n{ESC}[?25hInstalled") == [
        "Downloading",
        "   ━━━━━━━━━ 9.0/9.0 MB 0:00:01",
        "Installed",
    ]


def test_a_spinner_that_leaves_nothing() -> None:
    spin = "".join(f"{ESC}[1G{ESC}[0K{wheel}{ESC}[1G{ESC}[0K" for wheel in "⠙⠹⠸⠼")
    assert shown(f"{spin}\nadded 3 packages") == ["", "added 3 packages"]


def test_a_status_line_under_a_growing_log() -> None:
    status = "".join(
        f"\r{ESC}[K{ESC}[32m   Compiling{ESC}[0m part-{n}\n    Building [==>  ] {n}/3: part-{n}"
        for n in range(1, 4)
    )
    assert shown(f"{status}\r{ESC}[K    Finished") == [
        "   Compiling part-1",
        "   Compiling part-2",
        "   Compiling part-3",
        "    Finished",
    ]


def test_several_lines_that_are_erased_upwards_and_written_again() -> None:
    def picture(done: int) -> str:
        return f"suite\n  passed {done}\n  left {3 - done}\n"

    erase = f"{ESC}[2K{ESC}[1A" * 3 + f"{ESC}[2K{ESC}[G"
    assert shown(f"start\n{picture(0)}{erase}{picture(1)}{erase}{picture(3)}") == [
        "start",
        "suite",
        "  passed 3",
        "  left 0",
    ]


def test_several_lines_that_are_each_updated_in_place() -> None:
    def update(line: int, text: str) -> str:
        return f"{ESC}[{3 - line}A{ESC}[2K\r{text}\r{ESC}[{3 - line}B"

    raw = (
        "one: wait\ntwo: wait\nsix: wait\n"
        + update(1, "two: 50%")
        + update(0, "one: done")
        + update(1, "two: done")
    )
    assert shown(f"{raw}end") == ["one: done", "two: done", "six: wait", "end"]


def test_a_live_table_taller_than_a_small_window() -> None:
    def picture(mark: str) -> str:
        return "\n".join(f"task {number} {mark}" for number in range(70))

    again = f"\r{ESC}[2K" + f"{ESC}[1A{ESC}[2K" * 69
    assert shown(f"head\n{picture('…')}{again}{picture('ok')}\n") == ["head"] + [
        f"task {n} ok" for n in range(70)
    ]


def test_a_bar_kept_at_the_bottom_by_saving_the_cursor() -> None:
    steps = "".join(f"{ESC}7\n[{done}0%]{ESC}8" for done in range(10))
    assert shown(f"unpacking{steps}") == ["unpacking", "[90%]"]
