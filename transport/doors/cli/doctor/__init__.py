"""What ``showcaller doctor`` looks at: each finding is decided by itself, and then told."""
