"""Builds every recipe of suites/recipes from clones, and says which give what was published.

With --write the recipes that differ are written again: after a change to how questions are mined,
and after a change of a grammar.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from codebench.gold.published import build_recipe, read_recipe, recipe_names
from codebench.home import builtin
from codebench.plain_yaml import dump_yaml
from codebench.suite import suite_digest


def main() -> int:
    """Build, tell, and write where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones, one named as each recipe")
    parser.add_argument("--write", action="store_true", help="write the recipes that differ")
    arguments = parser.parse_args()
    different = 0
    for name in recipe_names():
        clone = arguments.clones / name
        if not clone.exists():
            print(f"{name}: no clone")
            continue
        wanted = read_recipe(name)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            built, (note,) = build_recipe(
                name, Path(folder) / name, lambda *_: None, clone=str(clone)
            )
        print(f"{name}: {time.monotonic() - began:.1f} s; {note}", flush=True)
        suite = built[0].suite
        data = {
            "repository": wanted.repository,
            "language": wanted.language,
            "tip": wanted.tip,
            "snapshot": wanted.recipe.snapshot,
            "max_queries": wanted.recipe.max_queries,
            **wanted.recipe.rules.as_data(),
            "queries": len(suite.queries),
            "corpus_digest": suite.corpus_digest,
            "suite_digest": suite_digest(suite),
        }
        found = (data["queries"], data["corpus_digest"], data["suite_digest"])
        if found != (wanted.queries, wanted.corpus_digest, wanted.digest):
            different += 1
            if arguments.write:
                place = builtin("suites") / "recipes" / f"{name}.yaml"
                place.write_text(dump_yaml(data), "utf-8")
    return 1 if different and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
