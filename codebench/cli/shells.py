"""Completion scripts: shtab writes them, and here stands what each value may be.

An option's metavar says what its value is, so the same word means the same in every verb.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import shtab

from codebench.adapter import builtin_names
from codebench.cli.parsing import PROGRAM
from codebench.cli.tree import whole
from codebench.gold.published import recipe_names
from codebench.listing import suite_names
from codebench.measures.catalogue import KINDS
from codebench.measures.names import DEFAULT, EXTRA
from codebench.runner.cache import ROOMS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

Files = Literal["", "file", "dir"]


@dataclass(frozen=True, slots=True)
class Values:
    """What a value may be: one of some words, and a file or a folder."""

    words: tuple[str, ...] = ()
    files: Files = ""


_FILE, _FOLDER = Values(files="file"), Values(files="dir")

FREE = frozenset(
    "COMMIT DATE GLOB K LIMIT N N,… NAME Q,… QUERY REVISION SECONDS SIZE TAG TEXT X".split()
)
"""Metavars of which no shell can know a value."""


def values() -> dict[str, Values]:
    """Return what a value may be, by the metavar of its argument."""
    suites, retrievers = tuple(suite_names()), tuple(builtin_names())
    return {
        "TARGET": Values(suites, "dir"),
        "SUITE": Values(suites, "dir"),
        "RETRIEVER": Values(retrievers, "file"),
        "MEASURE": Values(measure_names()),
        "RECIPE": Values(tuple(recipe_names()), "file"),
        "ROOM": Values(tuple(ROOMS)),
        "MODE": Values(("frozen", "parent", "epochs=4")),
        "WHERE": Values(("local", "dask")),
        "RUN": Values(("latest",), "dir"),
        "RESULTS": _FOLDER,
        "FOLDER": _FOLDER,
        "REPOSITORY": _FOLDER,
        "[NAME=]PATH": _FOLDER,
        "PATH": _FILE,
        "FILE": _FILE,
        "SOURCE": _FILE,
        "RUNS.csv": _FILE,
        "A": _FILE,
        "B": _FILE,
    }


def measure_names() -> tuple[str, ...]:
    """Return measures worth offering: the default ones, and one of each family."""
    usual = [*(one.bind(2) for one in DEFAULT), *EXTRA]
    others = [kind for kind in KINDS if kind.name not in {one.name for one in usual}]
    families = [kind.name if kind.cutoff == "none" else f"{kind.name}@10" for kind in others]
    return tuple(dict.fromkeys([*(one.short for one in usual), *families]))


def script(shell: str) -> str:
    """Return the script for `bash`, `zsh` or `fish`."""
    root, known = whole(), values()
    for action in arguments_of(root):
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if metavar in known and not action.choices:
            vars(action)["complete"] = {
                "bash": _name(metavar),
                "zsh": _name(metavar),
                "fish": f"({_name(metavar)})",
            }
    functions = "\n".join(_WRITE[shell](_name(key), one) for key, one in known.items())
    return shtab.complete(root, shell, preamble=functions) + (
        _BASH_WORDS if shell == "bash" else ""
    )


def arguments_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Return every argument of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to look
        yield action
        if isinstance(action.choices, dict):
            yield from chain.from_iterable(map(arguments_of, action.choices.values()))


def _name(metavar: str) -> str:
    # shtab tells by `_file` in a function's name that bash must quote what it completes.
    word = "".join(char if char.isalnum() else "_" for char in metavar.lower())
    return f"_{PROGRAM}_{word}_file"


def _bash(name: str, known: Values) -> str:
    paths = {"": "", "file": '  compgen -f -- "$1"\n', "dir": '  compgen -d -- "$1"\n'}
    words = " ".join(map(shlex.quote, known.words)) or "''"
    return (
        f"{name}() {{\n  local word\n  for word in {words}; do\n"
        f'    [[ -n "$word" && "$word" == "$1"* ]] && printf \'%s\\n\' "$word"\n  done\n'
        f"{paths[known.files]}}}"
    )


def _zsh(name: str, known: Values) -> str:
    words = f"  compadd -- {' '.join(map(shlex.quote, known.words))}\n" if known.words else ""
    paths = {"": "", "file": "  _files\n", "dir": "  _files -/\n"}
    return f"{name}() {{\n{words}{paths[known.files]}}}"


def _fish(name: str, known: Values) -> str:
    words = f"  printf '%s\\n' {' '.join(map(shlex.quote, known.words))}\n" if known.words else ""
    paths = {
        "": "",
        "file": "  __fish_complete_path (commandline -ct)\n",
        "dir": "  __fish_complete_directories (commandline -ct)\n",
    }
    return f"function {name}\n{words}{paths[known.files]}end"


_WRITE: dict[str, Any] = {"bash": _bash, "zsh": _zsh, "fish": _fish}

_BASH_WORDS = r"""
# readline breaks words at = : @ ( too, and `bm25:k1=1.2` is one value: the words are put together
# as they stand in the line, `--name=value` becomes two, and what readline takes for done is taken
# off the replies. It begins a word with @, and behind the others.
_codebench() {
  local rest="${COMP_LINE:0:COMP_POINT}" joined=() words=() last=-1 i word done
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $last -ge 0 && -n "$rest" && "$rest" != [[:space:]]* ]]; then
      joined[last]+="${COMP_WORDS[i]}"
    else
      rest="${rest#"${rest%%[![:space:]]*}"}"
      joined[++last]="${COMP_WORDS[i]}"
    fi
    rest="${rest#"${COMP_WORDS[i]}"}"
  done
  for word in "${joined[@]}"; do
    if [[ "$word" == --*=* ]]; then words+=("${word%%=*}"); fi
    words+=("${word#--*=}")
  done
  COMP_WORDS=("${words[@]}")
  COMP_CWORD=$((${#words[@]} - 1))
  word="${words[COMP_CWORD]//\\(/(}"
  word="${word//\\)/)}"
  COMP_WORDS[COMP_CWORD]="$word"
  _shtab_codebench
  done="${word%"${word##*[@:=(]}"}"
  COMPREPLY=("${COMPREPLY[@]#"${done%@}"}")
}
complete -o bashdefault -F _codebench codebench
"""
