"""The client against the reference server: right, or wrong in exactly what each defect names."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Era, Party, Revision, TransportKind
from clausewise.reference.client.defects import ClientDefect, list_defects
from clausewise.reference.client.run import ClientOptions
from clausewise.reference.defects import Defect
from clausewise.reference.defects import list_defects as list_server_defects
from clausewise.reference.options import ServerOptions
from clausewise.registry import clauses
from tests.reference_client.playing import CASES, play, play_defect
from tests.reference_client.workout import SCRIPTS

REVISIONS = {Era.LEGACY: Revision.LEGACY, Era.MODERN: Revision.MODERN}
SERVER_DEFECTS = [
    defect for defect in list_server_defects() if defect.clauses and not defect.protected
]


@pytest.mark.parametrize("transport", list(TransportKind))
@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
@pytest.mark.parametrize("server", list(Era))
def test_the_right_client_is_served_and_gives_no_finding(
    server: Era, era: Era, transport: TransportKind
) -> None:
    if (server, era) in ((Era.LEGACY, Era.MODERN), (Era.MODERN, Era.LEGACY)):
        pytest.skip("the two have no version in common")
    options = ClientOptions(era, SCRIPTS[era])
    played = play(options, transport, ServerOptions(era=server), forgets=True)
    assert len(played.results) == len(SCRIPTS[era].steps)
    assert played.complaints == []
    assert played.findings() == {}


@pytest.mark.parametrize("transport", list(TransportKind))
@pytest.mark.parametrize("server", list(Era))
def test_a_tour_uses_what_is_offered_and_gives_no_finding(
    server: Era, transport: TransportKind
) -> None:
    played = play(ClientOptions(), transport, ServerOptions(era=server))
    assert len(played.results) > 20
    assert played.complaints == []
    assert played.findings() == {}


@pytest.mark.parametrize(
    ("defect", "era", "transport"), CASES, ids=lambda part: getattr(part, "name", None) or str(part)
)
def test_a_defect_trips_exactly_the_clauses_it_names(
    defect: ClientDefect, era: Era, transport: TransportKind
) -> None:
    found = play_defect(defect, era, transport).findings(Party.CLIENT)
    assert found.keys() == {*defect.clauses[era]}, found


@pytest.mark.parametrize("defect", SERVER_DEFECTS, ids=lambda defect: defect.name)
def test_the_right_client_stays_blameless_whatever_a_legacy_server_does(defect: Defect) -> None:
    transport = max(defect.transports)
    options = ClientOptions(Era.LEGACY, SCRIPTS[Era.LEGACY], seconds=5.0)
    played = play(options, transport, ServerOptions(defects=(defect.name,)))
    assert played.results
    assert played.findings(Party.CLIENT) == {}


@pytest.mark.parametrize("defect", list_defects(), ids=lambda defect: defect.name)
def test_a_defect_names_clauses_that_bind_clients_and_can_be_judged(defect: ClientDefect) -> None:
    assert defect.clauses
    for era, named in defect.clauses.items():
        known = clauses(REVISIONS[era])
        assert named
        for name in named:
            assert Party.CLIENT in known[name].binds
            assert known[name].checks


def test_names_of_defects_are_unique() -> None:
    names = [defect.name for defect in list_defects()]
    assert len(names) == len(set(names))
