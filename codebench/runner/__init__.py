"""From a suite and retrievers to a run."""
