"""`python -m clausewise`."""

from clausewise.cli.main import main

if __name__ == "__main__":
    main()
