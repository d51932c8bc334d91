"""The limits that a run must keep against an accepted baseline, and how that ends."""
