"""Running a plan: scheduler, workers, journal, results."""
