"""``python -m showcaller`` is the command ``showcaller``."""

from showcaller.entry import main

if __name__ == "__main__":
    main()
