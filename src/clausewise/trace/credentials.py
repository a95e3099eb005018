"""Find what looks like a credential in the text of a message, and put a placeholder there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2s
from itertools import pairwise

_MARK = b"REDACTED"

# Where a word may begin: in JSON text the letter of an escape (`\\n`) is no part of it.
_EDGE = rb"(?:(?<![\w.\\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"

# A member's, parameter's or variable's name that says: the value is a secret. Tokens that
# are none (`progressToken`, `next_page_token`) must not match.
_SECRET_NAME = (
    rb"""(?:
    [\w.-]{0,64}?(?:
        (?:access|refresh|id|auth|session|bearer|api|bot|csrf|xsrf|security)[_-]?token
      | (?:api|access|secret|private|signing|encryption)[_-]?key
      | passw(?:or)?d | passphrase | client[_-]?secret | client[_-]?assertion
      | code[_-]?verifier | device[_-]?code
      | (?:"""
    + _EDGE
    + rb"""|[_.-])(?:proxy-)?(?:authorization|(?:set-)?cookie|secret|credentials?)
    )
  | (?:[\w.-]{0,64}?[_.-])??(?<!page_)(?<!next_)(?<!progress_)(?<!continuation_)(?<!sync_)token
)"""
)
_FLAGS = re.IGNORECASE | re.VERBOSE

_MEMBER = re.compile(
    rb'(?<!\\)"' + _SECRET_NAME + rb'"\s*+:\s*+"(?P<secret>(?:[^"\\]|\\.)++)', _FLAGS
)
# The same in JSON text that stands inside a string.
_QUOTED_MEMBER = re.compile(
    rb'(?<!\\)\\"'
    + _SECRET_NAME
    + rb"""\\"(?:\s|\\n)*+:(?:\s|\\n)*+\\"
    (?P<secret>(?:[^"\\]|\\\\(?:\\["\\/]|[^"\\])|\\[^"\\])++)""",
    _FLAGS,
)
# Looking ahead, so that `=` after `=` is tried, too. What ends a string begins no value.
_PARAMETER = re.compile(rb"""=(?=(?:\\?["'])?(?P<secret>[^&\s"'\\#;,<>\]}:][^&\s"'\\#;,<>]*+))""")
_PARAMETER_NAME = re.compile(
    rb"(?:" + _EDGE + _SECRET_NAME + rb"""|(?:^|[?&\s])code)=(?:\\?["'])?$""", _FLAGS
)
_HEADER_LINE = re.compile(
    rb"(?:authorization|x-api-key|cookie)\s*+:\s*+(?P<secret>[^\s\"\\{\[](?:[^\"\\\r\n]|\\/)*+)",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    rb"""(?:bearer|basic)(?:\s|%20)++
    (?P<secret>(?=[A-Za-z._~+/\\-]*+[0-9=])(?:\\/|[\w.~+/=-]){16,}+)""",
    _FLAGS,
)
_JWT = re.compile(rb"(?P<secret>eyJ[\w-]{6,}+\.[\w-]{6,}+(?:\.[\w-]*+){1,3})")
_ISSUED = re.compile(
    rb"""(?P<secret>
        sk-(?:[a-z]{2,8}-){0,2}[A-Za-z0-9_]{20,}+[\w-]*+
      | [sr]k_(?:live|test)_\w{16,}+ | gh[pousr]_\w{30,}+ | github_pat_\w{40,}+
      | glpat-[\w-]{20,}+ | xox[abeprs]-[\w-]{10,}+ | (?:AKIA|ASIA)[0-9A-Z]{16}
      | AIza[\w-]{35} | ya29\.[\w-]{20,}+ | npm_\w{36} | hf_\w{30,}+ | pypi-[\w-]{50,}+
    )""",
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>[^\"]*?)-----END", re.DOTALL
)
_USER_INFO = re.compile(rb"://[^/\s\"@:\\]*:(?P<secret>[^/\s\"@\\]++)@")
_LONG_RUN = re.compile(
    rb"(?<![A-Za-z0-9_+/=-])(?:(?<=\\)(?:u[0-9a-fA-F]{4}|[nrtbf]))?+"
    rb"(?P<secret>[A-Za-z0-9_+-]{40,512}+={0,2}+)(?![A-Za-z0-9_+/-])"
)

_IDENTIFIER = re.compile(rb'"(?:id|requestId|progressToken)"\s*:\s*"$')
_NOT_SECRET = re.compile(
    rb"""(?:"(?:id|requestId|progressToken|cursor|nextCursor|requestState|taskId|elicitationId
    |sessionId|subscriptionId|data|blob|signature|hash|digest|checksum|integrity|etag|sha\d+
    |uri|\$ref|\$id)"\s*:\s*" | base64,)$""",
    re.VERBOSE | re.IGNORECASE,
)
_LOOK_BACK = 96
_LEAST_DISTINCT = 18
_LEAST_TURNS = 0.45
_LEAST_DIGITS = 2


@dataclass(frozen=True, slots=True)
class _Sign:
    """A pattern with a group `secret`, and lower-case words without one of which it is not tried.

    `named` must match the text before a secret, `spared` must not; `is_secret` judges the
    run itself.
    """

    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...] = ()
    named: re.Pattern[bytes] | None = None
    spared: re.Pattern[bytes] = _IDENTIFIER
    is_secret: Callable[[bytes], bool] = bool

    def says(self, before: bytes, run: bytes) -> bool:
        """Whether a run of text that the pattern found after `before` is a secret."""
        if run.startswith(_MARK) or self.spared.search(before):
            return False
        if self.named is not None and not self.named.search(before):
            return False
        return self.is_secret(run)


_NAME_WORDS = (
    *(b"token", b"key", b"passw", b"passphrase", b"secret", b"authorization"),
    *(b"cookie", b"credential", b"assertion", b"verifier", b"code"),
)
_ISSUED_WORDS = (
    *(
        b"sk-",
        b"k_live_",
        b"k_test_",
        b"ghp_",
        b"gho_",
        b"ghu_",
        b"ghs_",
        b"ghr_",
        b"github_pat_",
        b"glpat-",
        b"xox",
        b"akia",
        b"asia",
        b"aiza",
    ),
    *(b"ya29.", b"npm_", b"hf_", b"pypi-"),
)


def _is_random(run: bytes) -> bool:
    """Whether a run of letters and digits looks drawn at random, unlike a name or a hash.

    Random text has all three classes of characters, many different ones, and changes
    class at more than half of its places; words and paths hardly ever do.
    """
    classes = [65 if 65 <= c <= 90 else 97 if 97 <= c <= 122 else 48 for c in run]
    turns = sum(a != b for a, b in pairwise(classes))
    return (
        len(set(classes)) == 3
        and sum(48 <= c <= 57 for c in run) >= _LEAST_DIGITS
        and len(set(run)) >= _LEAST_DISTINCT
        and turns >= _LEAST_TURNS * len(run)
    )


_WORD = re.compile(_EDGE + rb"$")
_HEADER_NAME = re.compile(_EDGE + rb"[\w-]+\s*:\s*$")
_SCHEME_NAME = re.compile(_EDGE + rb"\w+(?:\s|%20)+$")

_SIGNS = (
    _Sign(_PRIVATE_KEY, (b"private key-----",)),
    _Sign(_MEMBER, _NAME_WORDS),
    _Sign(_QUOTED_MEMBER, _NAME_WORDS),
    _Sign(_PARAMETER, _NAME_WORDS, _PARAMETER_NAME),
    _Sign(_HEADER_LINE, (b"authorization", b"x-api-key", b"cookie"), _HEADER_NAME),
    _Sign(_SCHEME, (b"bearer", b"basic"), _SCHEME_NAME),
    _Sign(_JWT, (b"eyj",), _WORD),
    _Sign(_ISSUED, _ISSUED_WORDS, _WORD),
    _Sign(_USER_INFO, (b"://",)),
    _Sign(_LONG_RUN, spared=_NOT_SECRET, is_secret=_is_random),
)


class CredentialFilter:
    """Replaces credentials in text, JSON or not, by placeholders.

    A placeholder is `REDACTED` and eight hexadecimal digits: the same for the same secret,
    so that what was equal stays equal. It fits where a secret stood, in JSON, in a URI and in
    base64. JSON stays valid, with the same members; ids and progress tokens stay as they are.

    Args:
        key: random bytes, so that no one can find a secret by trying; new for each recording.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def clean(self, text: bytes) -> bytes:
        """`text` without credentials; the same object when there are none."""
        lower = text.lower()
        for sign in _SIGNS:
            if not sign.words or any(word in lower for word in sign.words):
                text = self._replace(sign, text)
        return text

    def _replace(self, sign: _Sign, text: bytes) -> bytes:
        pieces: list[bytes] = []
        done = 0
        for match in sign.pattern.finditer(text):
            begin, end = match.span("secret")
            secret = text[begin:end]
            if not sign.says(text[max(0, begin - _LOOK_BACK) : begin], secret):
                continue
            pieces += (text[done:begin], self._placeholder(secret))
            done = end
        if not pieces:
            return text
        return b"".join((*pieces, text[done:]))

    def _placeholder(self, secret: bytes) -> bytes:
        digest = blake2s(secret, digest_size=4, key=self._key).hexdigest()
        return _MARK + digest.encode("ascii")
