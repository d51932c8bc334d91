"""What is done with stored runs: scoring, comparing, history, sweeps, alignment."""
