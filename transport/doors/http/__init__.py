"""The HTTP door: loopback only, for whoever has the owner's token; and the client that the commands use."""
