"""The ids that one sender has used, in little memory for those that count up."""

from __future__ import annotations

from array import array

from clausewise.wire.jsonrpc import IdKey

_FREE = -(2**63)
_MAX_SEQ = 2**63 - 1


class UsedIds:
    """Which ids are taken, each with the seq of the request that took it.

    Most senders count up, so consecutive integers lie in an array of seqs, eight bytes each;
    all other ids go into a dict.
    """

    def __init__(self) -> None:
        self._start = 0
        self._run = array("q")
        self._others: dict[IdKey, int] = {}
        self._withdrawn = 0

    def __len__(self) -> int:
        return len(self._run) + len(self._others) - self._withdrawn

    @property
    def are_several(self) -> bool:
        """Whether more than one is taken."""
        return len(self._run) > 1 + self._withdrawn or len(self) > 1

    def __contains__(self, key: IdKey) -> bool:
        return self.seq_of(key) is not None

    def seq_of(self, key: IdKey) -> int | None:
        """The seq of the request that has the id, or None."""
        place = self._place(key)
        if place is not None and place < len(self._run):
            seq = self._run[place]
            if seq != _FREE:
                return seq
        return self._others.get(key) if self._others else None

    def take(self, key: IdKey, seq: int) -> int | None:
        """Take the id for the request at `seq`; the seq that took it earlier, or None."""
        run = self._run
        # Nearly all senders count up.
        is_next = type(key) is int and run and key == self._start + len(run)
        if is_next and 0 <= seq <= _MAX_SEQ and key not in self._others:
            run.append(seq)
            return None
        earlier = self.seq_of(key)
        if earlier is not None:
            return earlier if earlier != seq else None
        place = self._place(key)
        if place is None or not 0 <= seq <= _MAX_SEQ:
            self._others[key] = seq
        elif place < len(self._run):
            self._run[place] = seq
            self._withdrawn -= 1
        else:
            if not self._run:
                self._start = int(key)  # type: ignore[arg-type]
            self._run.append(seq)
        return None

    def release(self, key: IdKey, seq: int) -> None:
        """Free the id if it was the request at `seq` that took it."""
        if self.seq_of(key) != seq:
            return
        if self._others.get(key) == seq:
            del self._others[key]
            return
        place = self._place(key)
        if place is not None:
            self._run[place] = _FREE
            self._withdrawn += 1

    def _place(self, key: IdKey) -> int | None:
        """Where an integer lies in the run, its end included; None if it does not."""
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is not int:
            return None
        if not self._run:
            return 0
        place = key - self._start
        return place if 0 <= place <= len(self._run) else None
