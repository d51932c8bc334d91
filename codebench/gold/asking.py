"""Questions by hand -> a suite: every symbol resolved at the snapshot, or near misses offered."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from codebench.corpus.installed import is_installed, open_installed
from codebench.gold.dangling import Places
from codebench.gold.folders import Written, check_free, write_whole
from codebench.gold.history import read_history
from codebench.gold.questions import read_questions
from codebench.gold.related import assign
from codebench.gold.relations import relations_in, relations_of
from codebench.gold.tags import leak
from codebench.gold.text import content_words
from codebench.gold.timeline import Timeline
from codebench.gold.window import Mainline
from codebench.gold.workshop import workshop
from codebench.model import Query, Suite, Target
from codebench.reading import Faults

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codebench.corpus.rules import SnapshotRules
    from codebench.gold.questions import Judged, Question
    from codebench.gold.related import Relations
    from codebench.gold.workshop import Progress, Workshop
    from codebench.model import Corpus, Related

QUESTIONS_FILE = "questions.yaml"
_LINES = re.compile(r"(?P<path>.+?)(?::|#L)(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?", re.DOTALL)


def build_from_questions(
    repository: str,
    file: Path,
    folder: Path,
    progress: Progress,
    *,
    snapshot: str = "",
    rules: SnapshotRules,
    jobs: int | None = None,
    force: bool = False,
) -> Suite:
    """Resolve questions in a repository's code and write the suite, the questions beside it.

    Args:
        repository: path or URL, or a folder of the running Python as `sysconfig:stdlib`.
        file: the questions.
        folder: where the suite is written.
        progress: told (step, done, of how many).
        snapshot: the revision to ask; empty for HEAD.
        rules: which files belong to the corpus.
        jobs: processes that parse.
        force: whether a suite that is there is replaced.

    Raises:
        InputError: the questions are wrong, or name what the snapshot does not have; everything
            that is wrong is listed with its line.
        UsageError: the folder is taken, or there is no such repository.
    """
    check_free(folder, force=force)
    faults = Faults(file)
    questions = read_questions(file, faults)
    text = file.read_bytes()
    with workshop(progress, jobs) as shop:
        name, commit, corpus, relations = _opened(repository, snapshot, rules, shop)
        resolver = _Resolver(corpus, relations, faults, tied=bool(commit))
        queries = [resolver.query(question) for question in questions]
    faults.check()
    recipe = {"source": "questions", "corpus": rules.as_data()}
    suite = Suite(
        name=folder.resolve().name,
        repository=name,
        snapshot=commit,
        # A folder of the running Python is another one elsewhere: it is fitted when it is opened.
        corpus_digest=corpus.digest if commit else "",
        queries=tuple(sorted(queries, key=lambda one: one.id)),
        recipe={key: value for key, value in recipe.items() if value},
    )
    write_whole("", [Written("", suite, ())], folder, force=force, extra={QUESTIONS_FILE: text})
    return suite


def _opened(
    repository: str, snapshot: str, rules: SnapshotRules, shop: Workshop
) -> tuple[str, str, Corpus, Relations]:
    if is_installed(repository):
        corpus = open_installed(repository, cache=shop.corpora, outliner=shop.outliner, rules=rules)
        return repository, "", corpus, relations_in(corpus, shop.outliner)
    with shop.repository(repository) as source:
        commit = source.commit(snapshot) if snapshot else source.tip()
        corpus = source.corpus(commit, rules)
        shop.progress("reading history", 0, 0)
        commits = read_history(source.shadow, commit)
        history = Timeline(commits, {}, {}, Mainline(commits))
        relations = relations_of(commit, corpus, source, history.change_sets(commit))
        return source.name, commit, corpus, relations


class _Resolver:
    """Finds what questions name in a corpus; what is not there goes to the faults.

    Args:
        corpus: where to look.
        relations: of its files.
        faults: what is wrong.
        tied: whether the suite is for this corpus alone, and its targets for this very code.
    """

    def __init__(self, corpus: Corpus, relations: Relations, faults: Faults, *, tied: bool) -> None:
        self._tied = tied
        self._places = Places(corpus)
        self._relations = relations
        self._faults = faults

    def query(self, question: Question) -> Query:
        targets = tuple(
            target
            for one in question.targets
            if (target := self._target(one, question)) is not None
        )
        zeros = tuple(
            target.chunk
            for one in question.not_relevant
            if (target := self._target(one, question)) is not None
        )
        return Query(
            id=question.id,
            text=question.question,
            targets=targets,
            tags=self._tags(question, targets) if targets else {},
            related=self._related(targets),
            not_relevant=zeros,
        )

    def _target(self, judged: Judged, question: Question) -> Target | None:
        where = f"{question.id}: {judged.field}"
        judged = self._parted(judged)
        if self._names_lines(judged, where):
            return None
        path = judged.path or self._path_of(judged, where)
        if not path:
            return None
        name = f"{path}::{judged.symbol}" if judged.symbol else path
        chunk = self._places.by_id.get(name)
        if chunk is None and (judged.symbol or path not in self._places.paths):
            self._faults.add(
                "is not at the snapshot",
                line=judged.line,
                field=where,
                value=name,
                mend=self._places.near(path, name),
            )
            return None
        grade = max(judged.grade, 1)
        if chunk is None or not self._tied:
            return Target(path, name, grade)
        return Target(path, name, grade, fingerprint=chunk.fingerprint, masked=chunk.masked)

    def _parted(self, judged: Judged) -> Judged:
        """Take `path::symbol`, as codebench prints it, where a symbol alone is asked for."""
        path, found, symbol = judged.symbol.partition("::")
        if found and path in self._places.paths and judged.path in {"", path}:
            return replace(judged, path=path, symbol=symbol)
        return judged

    def _names_lines(self, judged: Judged, where: str) -> bool:
        """Tell whether a path ends in lines, as `a.py:41-90`; that is a fault."""
        found = _LINES.fullmatch(judged.path)
        if (
            not found
            or judged.path in self._places.paths
            or found["path"] not in self._places.paths
        ):
            return False
        first = int(found["first"])
        held = self._places.in_lines(found["path"], first, int(found["last"] or first))
        self._faults.add(
            "names lines, which move; a target is a symbol or a whole file",
            line=judged.line,
            field=where,
            value=judged.path,
            mend=f"path: {found['path']}" + (f", symbol: {held}" if held else ""),
        )
        return True

    def _path_of(self, judged: Judged, where: str) -> str:
        """Return the only file that has a symbol; empty where there is none, or several."""
        symbol = judged.symbol
        chunks = self._places.by_id.values()
        files = sorted({chunk.path for chunk in chunks if chunk.name == symbol})
        if len(files) == 1:
            return files[0]
        if files:
            problem = f"is in {len(files)} files"
            mend = f"add the path: {', '.join(files[:5])}"
        else:
            problem = "is not at the snapshot"
            path = symbol.partition("::")[0] if "::" in symbol and "/" in symbol else ""
            near = self._places.near(path, symbol) if path else ""
            mend = near or self._places.symbols_near(symbol)
        self._faults.add(problem, line=judged.line, field=where, value=symbol, mend=mend)
        return ""

    def _tags(self, question: Question, targets: Sequence[Target]) -> dict[str, str]:
        table = self._places.paths[targets[0].path]
        count = content_words(question.question)
        tags = {
            "asked_by": question.asked_by,
            "files": "single" if len({one.path for one in targets}) == 1 else "multi",
            "kind": question.kind,
            "language": table.language or "text",
            "leak": leak(question.question, targets),
            "length": "short" if count <= 5 else "medium" if count <= 10 else "long",
            "source": "question",
            "symbols": "single" if len(targets) == 1 else "multi",
        }
        return {name: value for name, value in tags.items() if value}

    def _related(self, targets: Sequence[Target]) -> tuple[Related, ...]:
        files = {one.path for one in targets if one.grade > 1}
        return assign((one for path in sorted(files) for one in self._relations.of(path)), files)
