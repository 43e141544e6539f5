"""The doors: every way in from outside; each translates for the one local door and decides nothing itself."""
