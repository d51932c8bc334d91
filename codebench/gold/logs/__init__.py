"""Query logs and agents' trajectories -> queries with targets; a reader is one file here."""
