"""codebench: a benchmark harness for code search."""

from __future__ import annotations

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from codebench.adapter import RateLimited, Retriever
    from codebench.evaluation import evaluate
    from codebench.model import Chunk, Corpus, Hit

__all__ = ["Chunk", "Corpus", "Hit", "RateLimited", "Retriever", "__version__", "evaluate"]

_HOMES = {
    "Chunk": "codebench.model",
    "Corpus": "codebench.model",
    "Hit": "codebench.model",
    "RateLimited": "codebench.adapter",
    "Retriever": "codebench.adapter",
    "evaluate": "codebench.evaluation",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing codebench costs nothing."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("codebench-harness")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
