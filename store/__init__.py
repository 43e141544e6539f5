"""The relay's durable state in SQLite, behind a writer and read-only queries."""

if __name__ != "showcaller.store":
    raise ImportError("import showcaller.store: the folder store/ is a part of the package showcaller")
