"""Definitions of 2025-11-25 that 2026-07-28 lacks or has otherwise."""
