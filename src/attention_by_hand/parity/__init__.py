"""Parity: our layer and the Keras built-in, given the same weights and inputs, must give the same numbers.

In a chapter one line is enough: `abh.parity.run(layer_class)` compares the whole grid of options and prints a
table; `abh.parity.compare(ours, builtin, [query, value])` compares one pair of layers.
"""

from attention_by_hand.parity.bert import bert_in_numpy, bert_reference
from attention_by_hand.parity.compare import Comparison, compare, copy_weights, draw_weights
from attention_by_hand.parity.decoder import StepByStep, compare_decoder, run_decoder
from attention_by_hand.parity.grid import Case, grid, run
from attention_by_hand.parity.multi_head import compare_with_torch, multi_head_grid, run_multi_head
from attention_by_hand.parity.one_head import one_head_builtin, run_one_head
from attention_by_hand.parity.recurrent import compare_recurrent, recurrent_grid, run_recurrent
from attention_by_hand.parity.reference import Projected, reference
from attention_by_hand.parity.special_cases import compare_special_case, run_special_cases, special_case_grid
from attention_by_hand.parity.table import Table
from attention_by_hand.parity.transformer import BuiltInBlock, compare_transformer, run_transformer, transformer_cases

__all__ = [
    "BuiltInBlock",
    "Case",
    "Comparison",
    "Projected",
    "StepByStep",
    "Table",
    "bert_in_numpy",
    "bert_reference",
    "compare",
    "compare_decoder",
    "compare_recurrent",
    "compare_special_case",
    "compare_transformer",
    "compare_with_torch",
    "copy_weights",
    "draw_weights",
    "grid",
    "multi_head_grid",
    "one_head_builtin",
    "recurrent_grid",
    "reference",
    "run",
    "run_decoder",
    "run_multi_head",
    "run_one_head",
    "run_recurrent",
    "run_special_cases",
    "run_transformer",
    "special_case_grid",
    "transformer_cases",
]
