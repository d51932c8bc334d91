"""The front door: one file per verb."""
