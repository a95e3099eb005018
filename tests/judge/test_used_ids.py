"""The ids a sender has used, whatever their order and kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clausewise.judge.session.used_ids import UsedIds
from clausewise.wire.jsonrpc import id_key

IDS: st.SearchStrategy[object] = (
    st.integers(-2, 6)
    | st.integers(0, 6).map(float)
    | st.integers(0, 3).map(str)
    | st.sampled_from([2**70, 1.5])
)
STEPS = st.lists(st.tuples(st.booleans(), IDS, st.sampled_from([0, 2**70])), max_size=40)


@given(STEPS)
def test_used_ids_behave_like_a_dict(steps: list[tuple[bool, object, int]]) -> None:
    used = UsedIds()
    model: dict[object, int] = {}
    for number, (takes, value, offset) in enumerate(steps):
        key, seq = id_key(value), number + offset
        if takes:
            earlier = model.setdefault(key, seq)
            assert used.take(key, seq) == (earlier if earlier != seq else None)
        elif key in model:
            used.release(key, model.pop(key))
        assert len(used) == len(model)


def test_an_id_is_released_only_by_the_request_that_took_it() -> None:
    used = UsedIds()
    used.take(1, 10)
    used.release(1, 11)
    assert used.take(1, 12) == 10
