"""The relay's domain: supervisor, sessions, calls, fan-out; decisions are pure, actors carry them out."""
