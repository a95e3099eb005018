"""Every fault of the fake server by name: each turns exactly one thing wrong, or odd but right."""

from __future__ import annotations

from tests.probe import (
    faults_of_caching,
    faults_of_errors,
    faults_of_headers,
    faults_of_results,
)
from tests.probe.fault_making import FAULTS

__all__ = [
    "FAULTS",
    "faults_of_caching",
    "faults_of_errors",
    "faults_of_headers",
    "faults_of_results",
]
