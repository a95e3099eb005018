"""The reference server: right by construction, wrong on demand as a named defect says."""
