"""One module per figure: what is measured of us, how large it is, and the bar."""
