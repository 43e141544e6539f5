"""The parts of ``showcaller fanout``: what was asked, the items, the run, its progress and its results."""
