"""What adapters that need no Python share: templates, field maps, places, processes, HTTP."""
