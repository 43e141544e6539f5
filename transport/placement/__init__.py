"""Where workers run: started by a relay, found by the next one, and proven dead before they count so."""
