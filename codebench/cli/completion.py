"""`codebench completion`: a script that lets a shell complete codebench's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codebench.cli.parsing import VerbParser

if TYPE_CHECKING:
    import argparse

_NOTES = """\
The file for bash is read where the package bash-completion is installed, as most systems have it.
In place of a file, a line in ~/.bashrc, or after compinit in ~/.zshrc:
  eval "$(codebench completion bash)"
The script names the built-in suites, retrievers and measures: print it again after an upgrade.
"""

_EXAMPLES = (
    (
        "bash",
        "codebench completion bash > ~/.local/share/bash-completion/completions/codebench",
    ),
    ("zsh, in a folder of $fpath", "codebench completion zsh > ~/.zfunc/_codebench"),
    ("fish", "codebench completion fish > ~/.config/fish/completions/codebench.fish"),
)


def parser() -> VerbParser:
    """Return the verb's parser."""
    own = VerbParser(
        prog="codebench completion",
        description="Print a script that completes codebench's verbs, options and their values.",
        examples=_EXAMPLES,
        notes=_NOTES,
    )
    own.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell is to read it")
    return own


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from codebench.cli.shells import script  # noqa: PLC0415  # it imports every verb, and shtab

    print(script(arguments.shell))
    return 0
