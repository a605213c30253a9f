"""The parity table of the attention decoder covers its cases, agrees, and notices a decoder that is wrong."""

import keras
import pytest
from keras import ops

from attention_by_hand import parity
from attention_by_hand.layers import AdditiveAttention, AttentionDecoder
from attention_by_hand.parity.decoder import UNITS, DecoderCase, compare_decoder


def test_all_four_cases_agree_in_everything_that_is_compared():
    table = parity.run_decoder()
    assert table.cases == 4 and table.check() is table
    (with_mask,) = table.groups[DecoderCase(True, True, 3).label]
    weights = {f"d/d weight {n}" for n in ("kernel", "recurrent_kernel", "bias", "query_kernel", "key_kernel", "scale")}
    inputs = {"output states", "output contexts", "weights", "d/d x", "d/d memory", "d/d initial_state"}
    assert set(with_mask.differences) == weights | inputs


def test_the_quick_table_is_the_half_with_a_mask():
    assert parity.run_decoder(quick=True).cases == 2


@keras.saving.register_keras_serializable("tests")
class Late(AttentionDecoder):
    """Asks with the state that is two steps old: the first step is right, the others are not."""

    def decode(self, x, memory, memory_mask, initial_state):
        states, weights = super().decode(x, memory, memory_mask, initial_state)
        return states, ops.concatenate([weights[:1], weights[:-1]], axis=0)


class Unscaled(AdditiveAttention):
    """Halves the scores."""

    def step_score(self, key):
        score = super().step_score(key)
        return lambda query: 0.5 * score(query)


class MaskBlind(AttentionDecoder):
    """Sees the padding."""

    def decode(self, x, memory, memory_mask, initial_state):
        return super().decode(x, memory, None, initial_state)


@pytest.mark.parametrize(
    "wrong", [lambda: Late(UNITS), lambda: MaskBlind(UNITS), lambda: AttentionDecoder(UNITS, Unscaled(UNITS))]
)
def test_a_wrong_decoder_is_noticed(wrong):
    comparison = compare_decoder(DecoderCase(True, True, 3), wrong())
    assert not comparison.ok and any("weights" in text for text in comparison.mismatches)
