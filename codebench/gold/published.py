"""Recipes: which suite to mine from a public repository, and what must come out.

A recipe is data. The history is read where the suite is built, so nothing of a repository's text
is passed on with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codebench import home
from codebench.corpus.rules import SnapshotRules
from codebench.errors import UsageError
from codebench.gold.building import build
from codebench.gold.recipe import Recipe
from codebench.gold.whereabouts import is_url
from codebench.reading import Faults, near, read_yaml
from codebench.suite import suite_digest

if TYPE_CHECKING:
    from codebench.gold.building import Built
    from codebench.gold.workshop import Progress

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Published:
    """A recipe for one repository.

    Attributes:
        name: of the recipe.
        repository: its URL.
        language: the one that most of its code is written in.
        tip: the commit at which the history ends.
        recipe: what to mine; its snapshot is a commit ID.
        queries: how many must come out.
        corpus_digest, digest: of the corpus and of the suite that must come out.
    """

    name: str
    repository: str
    language: str
    tip: str
    recipe: Recipe
    queries: int
    corpus_digest: str
    digest: str


def recipe_names() -> tuple[str, ...]:
    """Return the names of the built-in recipes."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def read_recipe(named: str) -> Published:
    """Read a recipe: a built-in one by its name, or a YAML file.

    Raises:
        UsageError: there is no such recipe.
        InputError: it is wrong; every fault is listed.
    """
    builtin = _folder() / f"{named}.yaml"
    file = builtin if re.fullmatch(r"[\w.-]+", named) and builtin.is_file() else Path(named)
    if not file.is_file():
        raise UsageError(f"--recipe: {named} is no recipe; {near(named, recipe_names())}")
    faults = Faults(file)
    fields = read_yaml(file, faults)
    url = fields.text("repository", empty=False)
    if url and not is_url(url):
        fields.fault("repository", "is no URL", url)
    commits = {name: fields.text(name, empty=False) for name in ("tip", "snapshot")}
    for name, commit in commits.items():
        if commit and not _COMMIT.fullmatch(commit):
            fields.fault(name, "is no full commit ID", commit)
    language = fields.text("language", "")
    most = fields.integer("max_queries", low=1, high=10**6)
    rules = SnapshotRules(fields.texts("include", ()), fields.texts("exclude", ()))
    queries = fields.integer("queries", low=1, high=10**6)
    digests = {name: fields.text(name, empty=False) for name in ("corpus_digest", "suite_digest")}
    fields.finish()
    faults.check()
    recipe = Recipe(max_queries=most, snapshot=commits["snapshot"], rules=rules)
    return Published(
        file.stem,
        url,
        language,
        commits["tip"],
        recipe,
        queries,
        digests["corpus_digest"],
        digests["suite_digest"],
    )


def build_recipe(
    named: str,
    folder: Path,
    progress: Progress,
    *,
    clone: str = "",
    jobs: int | None = None,
    force: bool = False,
) -> tuple[tuple[Built, ...], tuple[str, ...]]:
    """Build the suite of a recipe, and say whether it is the one that was published.

    Args:
        named: a built-in recipe, or a file.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        clone: path of a clone that is there already; empty to clone the recipe's URL.
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        UsageError: there is no such recipe, or the folder is taken.
        GitError: the repository cannot be had, or has no such commit.
    """
    wanted = read_recipe(named)
    built = build(
        [clone or wanted.repository],
        wanted.recipe,
        folder,
        progress,
        jobs=jobs,
        force=force,
        tip=wanted.tip,
    )
    (made,) = built
    found = (len(made.suite.queries), made.suite.corpus_digest, suite_digest(made.suite))
    if found == (wanted.queries, wanted.corpus_digest, wanted.digest):
        return built, (f"this is the published suite {wanted.name}: its digest is the same",)
    differs = [
        f"{what} {now} where the recipe has {before}"
        for what, now, before in zip(
            ("queries", "the corpus", "the suite"),
            found,
            (wanted.queries, wanted.corpus_digest, wanted.digest),
            strict=True,
        )
        if now != before
    ]
    warning = (
        f"warning: not the published suite {wanted.name}: {'; '.join(differs)}; other versions of "
        "the grammars or of codebench cut other chunks, so compare no figures with published ones"
    )
    return built, (warning,)


def _folder() -> Path:
    return home.builtin("suites") / "recipes"
