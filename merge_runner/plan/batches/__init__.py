"""The batches of a model: windows of time, which of them are due, and what a text is rendered with for one."""
