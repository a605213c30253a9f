"""The parity table of the transformer's blocks covers its cases, agrees, and notices a block that is wrong."""

import pytest
from keras import ops

from attention_by_hand import parity
from attention_by_hand.layers import TransformerDecoderBlock, TransformerEncoderBlock
from attention_by_hand.parity.transformer import HEADS, MLP, TransformerCase


def test_all_cases_agree_in_everything_that_is_compared():
    table = parity.run_transformer()
    assert table.cases == 16 and table.check() is table
    assert [len(group) for group in table.groups.values()] == [4, 4, 2, 2, 2, 2]
    differences = table.groups[TransformerCase("decoder", True, True, True, 0).label][1].differences
    assert {"output", "weights of attention", "weights of cross_attention", "d/d x", "d/d memory"} <= set(differences)
    by_weight = [name for name in differences if name.startswith("d/d weight")]
    assert len(by_weight) == 3 * 2 + 2 * 8 + 2 * 2 == len(differences) - 5  # norms, attentions, the MLP's two layers


def test_the_quick_table_holds_both_blocks_and_both_orders_with_both_masks():
    table = parity.run_transformer(quick=True)
    assert table.cases == len(table.groups) == 4 and table.ok


def test_a_chapter_may_choose_which_blocks_it_compares():
    table = parity.run_transformer(quick=True, kinds=["encoder"])
    assert table.cases == 2 and table.ok
    with pytest.raises(ValueError, match="kinds must be among encoder, decoder, decoder_only; got 'encode'"):
        parity.run_transformer(kinds=["encode"])


class Unmasked(TransformerDecoderBlock):
    """Sees the memory's padding."""

    def check_memory(self, x, memory, memory_mask):
        super().check_memory(x, memory, memory_mask)


class OneNorm(TransformerEncoderBlock):
    """Forgets the norm of the MLP."""

    def mlp(self, x, training):
        return x + self.mlp_output(self.mlp_hidden(x))


class PostForPre(TransformerEncoderBlock):
    """Adds the normed input instead of the input."""

    def sublayer(self, name, function, x, training):
        return super().sublayer(name, function, getattr(self, f"{name}_norm")(x), training)


class OwnPadding(TransformerEncoderBlock):
    """Attends to its own padding."""

    def check(self, x, padding_mask, attention_mask):
        return None, super().check(x, padding_mask, attention_mask)[1]


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("decoder", Unmasked), ("encoder", OneNorm), ("encoder", PostForPre), ("encoder", OwnPadding)],
)
def test_a_wrong_block_is_noticed(kind, wrong):
    comparison = parity.compare_transformer(TransformerCase(kind, True, True, True, 3), wrong(HEADS, MLP))
    assert not comparison.ok and any(text.startswith("output") for text in comparison.mismatches)


class DeadGradient(TransformerEncoderBlock):
    """Right in its numbers, but the MLP gets no gradient."""

    def mlp(self, x, training):
        return x + ops.stop_gradient(super().mlp(x, training) - x)


def test_a_wrong_gradient_is_noticed():
    case = TransformerCase("encoder", True, False, False, 3)
    comparison = parity.compare_transformer(case, DeadGradient(HEADS, MLP))
    found = {text.split(" differs")[0] for text in comparison.mismatches}
    assert {"d/d x", "d/d weight mlp_hidden/kernel", "d/d weight mlp_output/bias"} <= found
    assert "output" not in found


def test_cases_hold_every_combination_once():
    cases = parity.transformer_cases()
    assert len({(c.kind, c.norm_first, c.padding, c.causal) for c in cases}) == len(cases) == 16
    assert {c.masks for c in cases if c.kind == "encoder"} == {"none", "padding", "causal", "padding+causal"}
