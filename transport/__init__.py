"""Frames, links, workers and doors: everything that crosses a border of the process."""

if __name__ != "showcaller.transport":
    raise ImportError(
        "import showcaller.transport: the folder transport/ is a part of the package showcaller"
    )
