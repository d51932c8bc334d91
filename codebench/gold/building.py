"""Repositories -> a suite folder: `codebench suite build`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from codebench.errors import UsageError
from codebench.gold import filters
from codebench.gold.folders import Written, check_free, write_whole
from codebench.gold.mine import OVER, dry_run, mine
from codebench.gold.workshop import name_of, workshop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.gold.mine import Mined
    from codebench.gold.recipe import Recipe
    from codebench.gold.workshop import Progress, Source
    from codebench.model import Suite


@dataclass(frozen=True, slots=True)
class Built:
    """What was built for one snapshot.

    Attributes:
        member: its folder's name in a suite of several; empty where it stands alone.
        suite: the suite.
        age_seconds: from the snapshot to the newest query.
    """

    member: str
    suite: Suite
    age_seconds: int


def build(
    repositories: Sequence[str],
    recipe: Recipe,
    folder: Path,
    progress: Progress,
    *,
    jobs: int | None = None,
    force: bool = False,
    tip: str = "",
) -> tuple[Built, ...]:
    """Mine repositories and write the suite: one folder, or one with a member a snapshot.

    The queries of several repositories carry the tag `repository`.

    Args:
        repositories: paths or URLs.
        recipe: what to mine; its snapshot may be any revision of the (only) repository.
        folder: where the suite is written, once all of it is there.
        progress: told (step, done, of how many).
        jobs: processes that parse.
        force: whether a suite that is there is replaced.
        tip: the revision at which the history ends; empty for HEAD.

    Raises:
        UsageError: the call cannot be met, or the folder is taken.
        NothingMeasured: a repository gave no query.
    """
    check_recipe(repositories, recipe)
    check_free(folder, force=force)
    name = folder.resolve().name
    written: list[Written] = []
    built: list[Built] = []
    with workshop(progress, jobs) as shop:
        names: list[str] = []
        for named in repositories:
            with shop.repository(named) as source:
                own = _another(name_of(source), names) if len(repositories) > 1 else ""
                end = source.commit(tip) if tip else source.tip()
                mined = mine(own or name, end, _resolved(recipe, source), source)
            names.append(own)
            for one in mined:
                made = _written(one, own)
                written.append(made)
                built.append(Built(made.member, made.suite, one.age_seconds))
    write_whole(name, written, folder, force=force)
    return tuple(built)


def preview(
    repositories: Sequence[str], recipe: Recipe, progress: Progress, *, jobs: int | None = None
) -> dict[str, Mapping[str, int]]:
    """Return by repository the funnel of what `build` would make, without making any snapshot.

    Raises:
        UsageError: the call cannot be met.
        NothingMeasured: a repository gives no query.
    """
    check_recipe(repositories, recipe)
    with workshop(progress, jobs) as shop:
        funnels: dict[str, Mapping[str, int]] = {}
        for named in repositories:
            with shop.repository(named) as source:
                funnels[named] = dry_run(source.tip(), _resolved(recipe, source), source)
        return funnels


def check_recipe(repositories: Sequence[str], recipe: Recipe) -> None:
    """Check that what is asked for can be had together.

    Raises:
        UsageError: it cannot.
    """
    if len(set(repositories)) < len(repositories):
        twice = Counter(repositories).most_common(1)[0][0]
        raise UsageError(f"{twice}: is named twice; name each repository once")
    if recipe.snapshot and len(repositories) > 1:
        raise UsageError("--snapshot: names a commit of one repository; build several one by one")
    if recipe.snapshot and recipe.mode == "parent":
        raise UsageError("--snapshot: parent mode asks each commit's own parent; leave one out")
    if None not in (recipe.since, recipe.until) and (recipe.since or 0) > (recipe.until or 0):
        raise UsageError("--since: is later than --until; nothing lies between")


def total_funnel(funnels: Sequence[Mapping[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return the sum of funnels: what came in first, what is left last."""
    total: Counter[str] = Counter()
    for funnel in funnels:
        total.update(funnel)
    order = ("commits", *filters.REASONS, OVER)
    dropped = sorted(total.keys() - {"queries"}, key=order.index)
    return (*((name, total[name]) for name in dropped), ("queries", total["queries"]))


def _another(name: str, names: Sequence[str]) -> str:
    """Return a name that is not there yet: `api`, `api-2`, `api-3`."""
    tries = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(one for one in tries if one not in names)


def _resolved(recipe: Recipe, source: Source) -> Recipe:
    return replace(recipe, snapshot=source.commit(recipe.snapshot)) if recipe.snapshot else recipe


def _written(one: Mined, repository: str) -> Written:
    """Name a member, and tag its queries where the suite has several repositories."""
    member = "-".join(part for part in (repository, one.name) if part)
    suite = one.suite
    if repository:
        queries = tuple(
            replace(query, tags={**query.tags, "repository": repository}) for query in suite.queries
        )
        suite = replace(suite, queries=queries)
    return Written(member, suite, one.journeys)
