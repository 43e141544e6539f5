"""The command line: one command per module, joined by ``group``; results on stdout, all else on stderr."""
