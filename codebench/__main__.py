"""`python -m codebench`."""

from codebench.cli.main import entry

if __name__ == "__main__":
    entry()
