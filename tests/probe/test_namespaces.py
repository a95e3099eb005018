"""Whose a name is: domains from namespaces, keys at domains."""

from __future__ import annotations

import anyio
import pytest

from clausewise.probe.registry_entry.namespaces import (
    domains_of,
    github_owner,
    is_proof,
    record_proof,
)
from tests.transport.name_server import serve_records

KEY = "v=MCPv1; k=ed25519; p=AAAAC3NzaC1lZDI1NTE5AAAAIA=="


def test_a_namespace_is_a_domain_written_backwards_or_one_of_its_parents() -> None:
    assert domains_of("com.example.sub/x") == ("sub.example.com", "example.com")
    assert domains_of("com.example/x") == ("example.com",)


def test_a_github_namespace_names_its_owner() -> None:
    assert github_owner("io.github.alice/x") == "alice"
    assert github_owner("com.example/x") is None


@pytest.mark.parametrize(
    ("text", "proves"),
    [
        (KEY, True),
        (KEY.replace("ed25519", "ecdsap384"), True),
        (f"a line\n{KEY}\n", True),
        (KEY.replace("MCPv1", "MCPv2"), False),
        (KEY.replace("ed25519", "rsa"), False),
        ("v=spf1 -all", False),
        ("", False),
    ],
)
def test_a_proof_is_a_public_key_of_a_known_kind(text: str, proves: bool) -> None:
    assert is_proof(text) is proves


@pytest.mark.parametrize(("records", "proven"), [([KEY], True), (["v=spf1"], False), ([], False)])
def test_a_txt_record_proves_a_domain(records: list[str], proven: bool) -> None:
    async def run() -> bool | None:
        async with serve_records(records) as server:
            with anyio.fail_after(10):
                return (await record_proof("example.com", server, 5.0)).proven

    assert anyio.run(run) is proven


def test_without_a_name_server_nobody_knows() -> None:
    assert anyio.run(record_proof, "example.com", None, 1.0).proven is None
