"""The worker: it runs turns through providers and never touches the relay's database."""
