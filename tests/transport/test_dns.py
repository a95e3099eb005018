"""TXT records from a name server, whatever it answers."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.transport.name_server import Answering, response, serve_datagrams, text_data

from clausewise.core.errors import TargetError
from clausewise.transport.dns import NameServer, configured_name_server, txt_records


def asked(answer: Answering, domain: str = "example.com") -> tuple[str, ...] | TargetError:
    async def run() -> tuple[str, ...] | TargetError:
        async with serve_datagrams(answer) as server:
            try:
                with anyio.fail_after(10):
                    return await txt_records(domain, server, 0.2)
            except TargetError as error:
                return error

    return anyio.run(run)


def test_each_record_is_one_text_however_it_is_cut() -> None:
    long = "x" * 600
    found = asked(lambda question: response(question, [text_data(long), text_data("b")]))
    assert found == (long, "b")


def test_a_domain_that_does_not_exist_has_no_records() -> None:
    assert asked(lambda question: response(question, [], 0x8183)) == ()


def test_an_answer_to_another_question_is_passed_over() -> None:
    stray = iter([True])

    def answer(question: bytes) -> bytes:
        if next(stray, False):
            return bytes([question[0] ^ 1, question[1]]) + response(question, [])[2:]
        return response(question, [text_data("right")])

    assert asked(answer) == ("right",)


@pytest.mark.parametrize(
    "answer",
    [
        lambda _question: None,
        lambda question: response(question, [], 0x8182),
        lambda question: response(question, [], 0x8380),
        lambda question: question[:2] + b"\x81\x80",
        lambda question: response(question, [text_data("cut")])[:-8],
        lambda question: response(question, [b"\x05"])[:-3],
    ],
    ids=["silence", "failure", "truncated", "a stump", "cut short", "cut in a name"],
)
def test_what_cannot_be_read_is_an_error_and_no_absence(answer: Answering) -> None:
    assert isinstance(asked(answer), TargetError)


@pytest.mark.parametrize("domain", ["", "a..b", "x" * 64 + ".com", "bücher.example"])
def test_what_is_no_domain_name_is_not_asked_for(domain: str) -> None:
    assert isinstance(asked(lambda _: None, domain), TargetError)


def test_the_name_server_is_the_first_that_is_configured(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("# c\nsearch a\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n")
    assert configured_name_server(path) == NameServer("192.0.2.1")
    path.write_text("options x\nnameserver\n")
    assert configured_name_server(path) is None
    assert configured_name_server(tmp_path / "none") is None
