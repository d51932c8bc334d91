"""Which measures there are: what each reads, its parameters, and its formula in words.

A measure is one entry here and one function of the same name in `formulas.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cutoff = Literal["required", "optional", "none"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One family of measures.

    Attributes:
        name: as it is written and printed.
        words: its formula, in words and symbols of DESIGN's units: n units, first reached at
            ranks r1 <= r2 <= …, with cj = max(rj, j).
        use: the use that it serves.
        cutoff: whether `@K` must, may or must not follow.
        has_rel: whether a threshold (`rel`) names the level that it reads.
        parameters: what else may stand in parentheses, with its default.
        by_tokens: whether `@Ntokens` may follow in place of `@K`.
        needs_judged: defined only where places judged not relevant are known.
        needs_bytes: defined only where a hit's bytes are known.
        bounded: whether its values lie in [0, 1].
        higher_is_better: False where less is better.
    """

    name: str
    words: str
    use: str
    cutoff: Cutoff = "optional"
    has_rel: bool = True
    parameters: tuple[tuple[str, object], ...] = ()
    by_tokens: bool = False
    needs_judged: bool = False
    needs_bytes: bool = False
    bounded: bool = True
    higher_is_better: bool = True


KINDS: tuple[Kind, ...] = (
    Kind(
        "RR",
        "1 / r1: one over the rank of the first unit reached, 0 when none is within K",
        "the first result decides the next step; its mean is MRR",
    ),
    Kind(
        "R",
        "share of the n units with rj <= K (or reached within N tokens read)",
        "what is missed is never answered; take the K that the context holds",
        cutoff="required",
        by_tokens=True,
    ),
    Kind(
        "P",
        "number of cj <= K, over K, however short the list is",
        "precision of the first screen",
        cutoff="required",
    ),
    Kind(
        "F",
        "(1 + b^2) P R / (b^2 P + R) of P@K and R@K; F1 is F(beta=1)",
        "one number where both misses and noise cost; beta=2 counts a miss more",
        cutoff="required",
        parameters=(("beta", 1.0),),
    ),
    Kind(
        "AP",
        "(1/n) times the sum of j / cj over cj <= K",
        "the whole list by binary relevance; its mean is MAP",
    ),
    Kind(
        "nDCG",
        "DCG@K over the DCG@K of the best order of the gold; DCG sums over levels l "
        "(v(l) - v(l-1)) / log2(cj + 1) for cj <= K; v(l) = l, or 2^l - 1 with dcg='exp-log2', "
        "or a map with gains={grade: value}",
        "a person reads a graded list from the top",
        has_rel=False,
        parameters=(("dcg", "log2"), ("gains", None)),
    ),
    Kind(
        "Success",
        "1 when r1 <= K, else 0",
        "was there anything at all",
        cutoff="required",
        by_tokens=True,
    ),
    Kind(
        "Acc",
        "1 when all n units are reached within K, else 0",
        "an edit needs every place",
        cutoff="required",
        by_tokens=True,
    ),
    Kind(
        "Rprec",
        "number of cj <= n, over n",
        "precision at the size of the gold",
        cutoff="none",
    ),
    Kind(
        "Bpref",
        "mean over the n units of 1 - min(b, n) / min(N, n), where b of the N places judged not "
        "relevant stand before it; a unit that is not reached counts 0",
        "incomplete judgments",
        cutoff="none",
        needs_judged=True,
    ),
    Kind(
        "RBP",
        "(1 - p) times the sum of p^(cj - 1) over cj <= K",
        "a reader who goes on to the next result with probability p",
        parameters=(("p", 0.8),),
        needs_judged=True,
    ),
    Kind(
        "ERR",
        "sum over places found of (1/c) s(g) times the product of 1 - s over those before, with "
        "s(g) = (2^g - 1) / 2^max_rel",
        "a reader who stops when satisfied",
        has_rel=False,
        parameters=(("max_rel", 3),),
        needs_judged=True,
    ),
    Kind(
        "Judged",
        "share of the first K returned at which a judged place is found",
        "how much of a list the judgments know",
        cutoff="required",
        has_rel=False,
        needs_judged=True,
    ),
    Kind(
        "Value",
        "sum of the weights of the targets shown within K",
        "targets that are not worth the same",
        cutoff="required",
        has_rel=False,
        bounded=False,
    ),
    Kind(
        "Tokens",
        "tokens (bytes / 4) read until the first target is shown; K tokens when it is not",
        "what an agent must read before it reaches the answer; lower is better",
        has_rel=False,
        needs_bytes=True,
        bounded=False,
        higher_is_better=False,
    ),
)

BY_NAME = {kind.name: kind for kind in KINDS}

ALIASES: dict[str, str] = {
    "MRR": "RR",
    "MAP": "AP",
    "NDCG": "nDCG",
    "Recall": "R",
    "Precision": "P",
    "Hit": "Success",
    "Accuracy": "Acc",
    "F1": "F",
}
"""Names that are accepted for another; `nDCG-exp` is read as nDCG(dcg='exp-log2')."""

TOKENS_LIMIT = 32_000
"""What `Tokens` counts, without a cutoff, for a target that is never shown."""
