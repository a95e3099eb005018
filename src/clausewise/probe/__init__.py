"""Experiments on a live server that decide rules."""
