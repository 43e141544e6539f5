"""What every test gets: Hypothesis without deadlines, more examples where that was asked for, and Ctrl-C."""

import os
import signal

from hypothesis import HealthCheck, settings

# A deadline measures the machine, not the code; a failing example prints what repeats it.
settings.register_profile("quick", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "ci", deadline=None, print_blob=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))

# A shell starts deaf to Ctrl-C what it puts in the background, and every program of a test would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
