"""SWE-bench-style JSON Lines -> a suite: problem statements, asked of their base commits.

The gold is what the reference patch edits, by the rule by which a commit's edits are found: the
patch is put onto the files of the base commit, and their symbols are compared before and after.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codebench.corpus.chunks import file_table
from codebench.corpus.languages import language_of
from codebench.errors import NothingMeasured, UsageError
from codebench.gold.folders import Written, check_free, write_whole
from codebench.gold.history import read_history
from codebench.gold.judgments import Imported
from codebench.gold.label import FilePair, label_commit
from codebench.gold.patches import PatchError, patched, read_patch
from codebench.gold.paths import path_kind
from codebench.gold.related import assign
from codebench.gold.relations import relations_of
from codebench.gold.tags import history_tags
from codebench.gold.timeline import Timeline
from codebench.gold.window import Mainline
from codebench.gold.workshop import workshop
from codebench.model import Query, Suite, Target
from codebench.reading import Faults, near, read_objects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codebench.corpus.rules import SnapshotRules
    from codebench.gold.workshop import Progress, Source
    from codebench.model import Corpus

NO_FIT = "patch does not fit the base commit"
NO_SOURCE = "no source file of the base commit edited"

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Instance:
    """One line: a problem, where it was asked, and what solved it."""

    id: str
    repository: str
    commit: str
    statement: str
    patch: str
    line: int


def read_instances(path: Path) -> tuple[Instance, ...]:
    """Read `instance_id, repo, base_commit, problem_statement, patch` a line; more is ignored.

    Raises:
        InputError: the file cannot be read, or a line is wrong; every fault is listed.
    """
    faults = Faults(path)
    found: dict[str, Instance] = {}
    for fields in read_objects(path, faults):
        one = Instance(
            id=fields.text("instance_id", empty=False),
            repository=fields.text("repo", empty=False),
            commit=fields.text("base_commit", empty=False).lower(),
            statement=fields.text("problem_statement", empty=False).strip(),
            patch=fields.text("patch", empty=False),
            line=fields.line or 0,
        )
        if one.id != one.id.strip() or not one.id.isprintable():
            fields.fault("instance_id", "holds white space or a control character", ascii(one.id))
        if one.commit and not _COMMIT.fullmatch(one.commit):
            fields.fault("base_commit", "is no commit ID", one.commit[:60])
        if one.id in found:
            fields.fault("instance_id", f"is also in line {found[one.id].line}", one.id)
        found[one.id] = one
    if not found and not faults.found:
        faults.add("holds no instance")
    faults.check()
    return tuple(found.values())


def import_instances(
    file: Path,
    repositories: Mapping[str, str],
    folder: Path,
    progress: Progress,
    *,
    rules: SnapshotRules,
    jobs: int | None = None,
    force: bool = False,
) -> Imported:
    """Import instances; every base commit becomes a member of the suite.

    Args:
        file: the instances.
        repositories: path or URL by the name in the field `repo`; the empty name stands for
            every other.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        rules: which files belong to the corpora.
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        InputError: a line of the file is wrong.
        UsageError: a repository was not given, or the folder is taken.
        NothingMeasured: no instance has a target.
    """
    check_free(folder, force=force)
    by_repository: dict[str, list[Instance]] = defaultdict(list)
    instances = read_instances(file)
    for one in instances:
        by_repository[one.repository].append(one)
    _check_known(by_repository, repositories)
    counts: Counter[str] = Counter()
    written: list[Written] = []
    with workshop(progress, jobs) as shop:
        for name in sorted(by_repository):
            place = repositories.get(name, repositories.get("", ""))
            with shop.repository(place) as source:
                made = _Asked(name, source, rules, counts)
                written += made.members(by_repository[name], folder.resolve().name)
    if not written:
        raise NothingMeasured(f"{file}: no instance has a target ({_reasons(counts)})")
    if len(written) == 1:
        written = [Written("", written[0].suite, ())]
    write_whole(folder.resolve().name, written, folder, force=force)
    notes = [f"{len(instances)} instances: {_reasons(counts)}"] if counts else []
    return Imported(tuple(one.suite for one in written), 0, tuple(notes))


def _check_known(asked: Mapping[str, Sequence[Instance]], given: Mapping[str, str]) -> None:
    unknown = sorted(set(asked) - set(given))
    if not unknown or ("" in given and len(asked) == 1):
        return
    if "" in given:
        raise UsageError(
            f"--repository: the file asks {len(asked)} repositories ({', '.join(sorted(asked))}); "
            "give each as NAME=PATH"
        )
    raise UsageError(
        f"--repository: none is given for {', '.join(unknown)}; add NAME=PATH or NAME=URL "
        f"({near(unknown[0], given)})"
    )


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{count} left out: {reason}" for reason, count in sorted(counts.items()))


class _Asked:
    """The instances of one repository."""

    def __init__(
        self, name: str, source: Source, rules: SnapshotRules, counts: Counter[str]
    ) -> None:
        self._name = name
        self._source = source
        self._rules = rules
        self._counts = counts

    def members(self, instances: Sequence[Instance], suite: str) -> list[Written]:
        """Return a suite for each base commit that has a query."""
        by_commit: dict[str, list[Instance]] = defaultdict(list)
        for one in instances:
            by_commit[self._source.commit(one.commit)].append(one)
        progress = self._source.workshop.progress
        made = []
        for number, commit in enumerate(sorted(by_commit)):
            progress("asking base commits", number, len(by_commit))
            own = self._suite(commit, by_commit[commit], suite)
            if own is not None:
                short = re.sub(r"[^\w.-]+", "-", self._name).strip("-.") or "repository"
                made.append(Written(f"{short}-{commit[:12]}", own, ()))
        return made

    def _suite(self, commit: str, instances: Sequence[Instance], name: str) -> Suite | None:
        corpus = self._source.corpus(commit, self._rules)
        targets = {one.id: self._targets(one, corpus) for one in instances}
        asked = [one for one in instances if targets[one.id]]
        if not asked:
            return None
        commits = read_history(self._source.shadow, commit)
        history = Timeline(commits, {}, {}, Mainline(commits))
        relations = relations_of(commit, corpus, self._source, history.change_sets(commit))
        queries = []
        for one in sorted(asked, key=lambda one: one.id):
            own = targets[one.id]
            files = {target.path for target in own}
            related = (found for path in sorted(files) for found in relations.of(path))
            language = corpus.by_path[own[0].path].language
            tags = history_tags(one.statement, one.statement, own, language)
            queries.append(
                Query(
                    id=one.id,
                    text=one.statement,
                    targets=own,
                    source="import",
                    origin=one.id,
                    tags={**tags, "source": "import", "repository": one.repository},
                    related=assign(related, files),
                )
            )
        recipe = {"source": "instances", "mode": "parent", "corpus": self._rules.as_data()}
        return Suite(name, self._source.name, commit, corpus.digest, tuple(queries), recipe)

    def _targets(self, one: Instance, corpus: Corpus) -> tuple[Target, ...]:
        """Return what the patch edits; where nothing counts, why is counted."""
        try:
            pairs = _pairs(one.patch, corpus)
        except PatchError:
            self._counts[NO_FIT] += 1
            return ()
        if not pairs:
            self._counts[NO_SOURCE] += 1
            return ()
        label = label_commit(pairs)
        if label.verdict:
            self._counts[label.verdict] += 1
        stored = {
            chunk.id: chunk
            for path in dict.fromkeys(chunk.path for chunk in label.targets)
            for chunk in corpus.by_path[path].chunks
        }
        return tuple(
            Target(chunk.path, chunk.id, fingerprint=chunk.fingerprint, masked=chunk.masked)
            for chunk in (stored[one.id] for one in label.targets if one.id in stored)
        )


def _pairs(patch: str, corpus: Corpus) -> list[FilePair]:
    pairs = []
    for one in read_patch(patch):
        path = one.old_path or one.new_path
        if not language_of(path) or path_kind(path) != "source" or one.binary:
            continue
        old = corpus.by_path.get(one.old_path) if one.old_path else None
        if one.old_path and old is None:
            raise PatchError(f"{one.old_path} is not in the corpus")
        text = "".join(corpus.lines(one.old_path)).replace("\r\n", "\n") if old else ""
        new = patched(text, one.hunks) if one.new_path else None
        # Both sides are read as text: what is no UTF-8 is alike on both, and so is every newline.
        before = file_table(one.old_path, text.encode()) if old else None
        after = None if new is None else file_table(one.new_path, new.encode())
        pairs.append(FilePair(before, after))
    return pairs
