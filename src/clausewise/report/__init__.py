"""Reports: pure functions from a run's result to text; nothing here prints."""
