"""Tantivy, a search engine library in Rust after Lucene's design, over chunks."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codebench import Hit, Retriever
from codebench.keywords import tokens
from codebench.kit.passages import Passage, passages
from codebench.kit.programs import missing_package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codebench import Corpus

MOST_WORDS = 1000


class Tantivy(Retriever):
    """Tantivy's BM25 over chunks, identifiers split; names and paths weigh `name_weight` times."""

    def __init__(self, name_weight: float = 1.0) -> None:
        if name_weight < 0:
            raise ValueError("name_weight is at least 0")
        self.version = f"1, tantivy {version('tantivy')}"
        self.name_weight = name_weight
        self.passages: list[Passage] = []
        self.folder = Path()

    @classmethod
    def missing(cls) -> str | None:
        return missing_package(["tantivy"], "pip install 'codebench-harness[tantivy]'")

    def index(self, corpus: Corpus) -> None:
        engine: Any = import_module("tantivy")
        self.passages = passages(corpus)
        builder = engine.SchemaBuilder()
        for field in ("name", "body"):
            # What is indexed is split already; only white space is left to split at.
            builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
        builder.add_unsigned_field("number", stored=True)
        self.schema = builder.build()
        built = engine.Index(self.schema)
        writer = built.writer(num_threads=1)  # ties go by place in the index: one order only
        for number, passage in enumerate(self.passages):
            name, _, body = passage.text.partition("\n")
            writer.add_document(
                engine.Document(
                    name=" ".join(tokens(name)), body=" ".join(tokens(body)), number=number
                )
            )
        writer.commit()
        writer.wait_merging_threads()
        built.reload()
        self.engine = engine
        self.searcher = built.searcher()

    def search(self, text: str, k: int) -> Sequence[Hit]:
        words = list(dict.fromkeys(tokens(text)))[:MOST_WORDS]
        if not words:
            return []
        query = self.engine.Query
        name, body = (
            query.boolean_query(
                [
                    (self.engine.Occur.Should, query.term_query(self.schema, field, word))
                    for word in words
                ]
            )
            for field in ("name", "body")
        )
        both = query.boolean_query(
            [
                (self.engine.Occur.Should, query.boost_query(name, self.name_weight)),
                (self.engine.Occur.Should, body),
            ]
        )
        found = [
            (score, self.searcher.doc(place)["number"][0])
            for score, place in self.searcher.search(both, k).hits
        ]
        found.sort(key=lambda one: (-one[0], one[1]))
        return [self.passages[number].hit(score) for score, number in found]
