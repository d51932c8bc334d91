"""Which commit of an adapter's own history made one query worse."""
