"""From a request to a report: which texts are meant, how each is rendered and looked at, and what is kept."""
