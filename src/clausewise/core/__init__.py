"""Vocabulary shared by every package: levels, outcomes, parties, revisions, results, errors.

Standard library only; nothing here imports another package of the project.
"""
