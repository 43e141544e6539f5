"""What goes over every link: msgpack frames, and the messages that they carry, checked at the border."""
