"""Definitions of 2026-07-28 that 2025-11-25 lacks or has otherwise."""
