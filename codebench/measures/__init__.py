"""From first-reach ranks to numbers; names and statistics of measures."""
