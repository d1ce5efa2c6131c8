"""What an invocation leaves: events, journal, artifacts, reports."""
