"""What an Accept header says about a media type."""

from __future__ import annotations

import pytest

from clausewise.judge.subjects.media_ranges import Listing, listing


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/event-stream", Listing.LISTED),
        ("application/json, TEXT/Event-Stream ;charset=utf-8; q=0.3", Listing.LISTED),
        ("text/event-stream;q=0, text/event-stream", Listing.LISTED),
        ("text/event-stream; Q=0.000", Listing.REFUSED),
        ("*/*, text/event-stream;q=0", Listing.REFUSED),
        ("*/*;q=0.1", Listing.COVERED),
        ("text/*", Listing.COVERED),
        ("application/*", Listing.ABSENT),
        ("text/event-streams, xtext/event-stream", Listing.ABSENT),
        ("", Listing.ABSENT),
        (",;=,", Listing.ABSENT),
    ],
)
def test_a_media_type_is_listed_refused_covered_or_absent(accept: str, expected: Listing) -> None:
    assert listing(accept, "text/event-stream") is expected
