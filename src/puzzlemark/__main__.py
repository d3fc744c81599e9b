"""`python -m puzzlemark`."""

from puzzlemark.cli.__main__ import main

if __name__ == "__main__":
    main()
