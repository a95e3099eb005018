"""The rule about HTTPS, on endpoints of this machine that are taken for public ones."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
import trustme

from clausewise.core.vocabulary import Outcome
from clausewise.probe.observation import Observation
from clausewise.probe.probes import transport_security
from clausewise.probe.probes.transport_security import endpoint_is_secure
from clausewise.probe.run import ProbeOptions, ProbeRun, run_probes
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import Neighbourhood
from clausewise.transport.targets import HttpTarget
from tests.probe.running import LIMITS, meeting
from tests.probe.site import GOOD_TOKEN, Guarded, Page, challenge, serve

SERVED = Guarded(Page(value={"jsonrpc": "2.0", "id": 1, "result": {}}))
PROTECTED = Guarded(challenge('Bearer scope="read"'))
TOKEN = (("Authorization", f"Bearer {GOOD_TOKEN}"),)
PAST = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback counts as a host on the internet."""
    monkeypatch.setattr(transport_security, "names_loopback", lambda _host: False)
    monkeypatch.setattr(transport_security, "neighbourhood", lambda _: Neighbourhood.PUBLIC)


def server_context(
    authority: trustme.CA, host: str = "127.0.0.1", not_after: datetime | None = None
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host, not_after=not_after).configure_cert(context)
    return context


def observed(
    site: Guarded,
    tls: ssl.SSLContext | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    **trust: str | bool,
) -> Observation:
    async def run() -> Observation:
        async with serve(site, tls) as origin:
            target = HttpTarget(f"{origin}/mcp", headers, **trust)  # type: ignore[arg-type]
            async with meeting(target) as peer:
                with anyio.fail_after(30):
                    found = await endpoint_is_secure(peer)
                await peer.close()
                return found

    return anyio.run(run)


def test_loopback_needs_no_tls() -> None:
    assert observed(SERVED).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.usefixtures("elsewhere")
def test_a_trusted_certificate_passes(authority: trustme.CA, ca_file: str) -> None:
    found = observed(SERVED, server_context(authority), ca_file=ca_file)
    assert found.outcome is Outcome.PASS


@pytest.mark.usefixtures("elsewhere")
def test_an_expired_certificate_fails_though_the_user_accepts_any(authority: trustme.CA) -> None:
    context = server_context(authority, not_after=PAST)
    found = observed(SERVED, context, verify=False)
    assert found.outcome is Outcome.FAIL


@pytest.mark.usefixtures("elsewhere")
def test_an_expired_certificate_is_called_expired(authority: trustme.CA, ca_file: str) -> None:
    found = observed(SERVED, server_context(authority, not_after=PAST), ca_file=ca_file)
    assert "expired" in found.faults[0].seen


@pytest.mark.usefixtures("elsewhere")
def test_a_certificate_for_another_host_fails(authority: trustme.CA, ca_file: str) -> None:
    found = observed(SERVED, server_context(authority, "example.org"), ca_file=ca_file)
    assert "mismatch" in found.faults[0].seen


@pytest.mark.usefixtures("elsewhere")
def test_an_unknown_authority_fails_at_a_public_address(authority: trustme.CA) -> None:
    found = observed(SERVED, server_context(authority), verify=False)
    assert found.outcome is Outcome.FAIL


def test_an_unknown_authority_in_a_private_network_is_inconclusive(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport_security, "names_loopback", lambda _host: False)
    found = observed(SERVED, server_context(authority), verify=False)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "--ca-file" in (found.reason or "")


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("site", "headers", "severity"),
    [(SERVED, (), Outcome.WARN), (SERVED, TOKEN, None), (PROTECTED, (), None)],
    ids=["open", "with a token", "protected"],
)
def test_plain_http_is_worse_where_tokens_go(
    site: Guarded, headers: tuple[tuple[str, str], ...], severity: Outcome | None
) -> None:
    found = observed(site, headers=headers)
    assert [fault.severity for fault in found.faults] == [severity]
    assert GOOD_TOKEN not in (found.faults[0].reproduce or "")


@pytest.mark.usefixtures("elsewhere")
def test_a_run_that_a_bad_certificate_ends_still_tells_the_rule(
    authority: trustme.CA, ca_file: str
) -> None:
    async def run() -> ProbeRun:
        context = server_context(authority, not_after=PAST)
        async with serve(SERVED, context) as origin:
            target = HttpTarget(f"{origin}/mcp", ca_file=ca_file)
            with anyio.fail_after(30):
                return await run_probes(target, ProbeOptions(limits=LIMITS), Tape())

    result = anyio.run(run)
    by_id = {verdict.id: verdict for verdict in result.verdicts}
    assert by_id["MCP-SEC-002"].outcome is Outcome.FAIL
    assert by_id["MCP-DSC-001"].outcome is Outcome.INCONCLUSIVE
    assert result.era is None
