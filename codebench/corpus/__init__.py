"""Snapshots, chunks, chunk IDs, and carrying a chunk to another snapshot."""
