"""From evidence (history, logs, questions) to queries with targets."""
