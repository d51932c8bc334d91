"""Formatters: evaluations and comparisons as table, Markdown or JSON."""
