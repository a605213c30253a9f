"""Every figure of the chapters: NumPy in, matplotlib out, strings from the string table.

Each returns a `Picture`, which a notebook shows when it is the last line of a cell.
"""

from attention_by_hand.plots.additive import kernel_regression, recall_map
from attention_by_hand.plots.captioning import scene_sheet, word_maps
from attention_by_hand.plots.common import bars, curves, heatmap
from attention_by_hand.plots.dot_product import accuracy_against_width, flattened, saturation, weights_against_width
from attention_by_hand.plots.language import bits_by_order, drawn_from, induction, surprise
from attention_by_hand.plots.mark_pairs import cell_maps, pair_sheet
from attention_by_hand.plots.masks import leak_scores, mask_grids, reach_maps
from attention_by_hand.plots.multi_head import chunk_maps, head_maps, head_scores
from attention_by_hand.plots.positions import asked_verbs, fading, products, table_and_bits, two_orders, waves
from attention_by_hand.plots.pretrained import all_maps, head_strips, paraphrase_scatter
from attention_by_hand.plots.relative import beyond, bias_maps, learned_distances
from attention_by_hand.plots.self_attention import bae_map, dependence, two_tables
from attention_by_hand.plots.seq2seq import by_place, by_things, falling_loss, teacher_forcing
from attention_by_hand.plots.sequences import by_distance, costs, fading_gradient, reach_grid
from attention_by_hand.plots.start import seeds_and_weights
from attention_by_hand.plots.transformer import gradient_by_depth, rank_distance, warm_up
from attention_by_hand.plots.transformer_translation import by_updates, head_rates
from attention_by_hand.plots.translation import alignment_maps

__all__ = [
    "accuracy_against_width",
    "alignment_maps",
    "all_maps",
    "asked_verbs",
    "bae_map",
    "bars",
    "beyond",
    "bias_maps",
    "bits_by_order",
    "by_distance",
    "by_place",
    "by_things",
    "by_updates",
    "cell_maps",
    "chunk_maps",
    "costs",
    "curves",
    "dependence",
    "drawn_from",
    "fading",
    "fading_gradient",
    "falling_loss",
    "flattened",
    "gradient_by_depth",
    "head_maps",
    "head_rates",
    "head_scores",
    "head_strips",
    "heatmap",
    "induction",
    "kernel_regression",
    "leak_scores",
    "learned_distances",
    "mask_grids",
    "pair_sheet",
    "paraphrase_scatter",
    "products",
    "rank_distance",
    "reach_grid",
    "reach_maps",
    "recall_map",
    "saturation",
    "scene_sheet",
    "seeds_and_weights",
    "surprise",
    "table_and_bits",
    "teacher_forcing",
    "two_orders",
    "two_tables",
    "warm_up",
    "waves",
    "weights_against_width",
    "word_maps",
]
