"""Scores: how even weights are, how well they agree with gold labels, how good translations and captions are."""

from attention_by_hand.metrics.alignment import (
    alignment_error_rate,
    links_from_weights,
    mass_on_links,
    sure_accuracy,
)
from attention_by_hand.metrics.baselines import (
    IBMModel1,
    diagonal_links,
    diagonal_weights,
    uniform_links,
    uniform_weights,
)
from attention_by_hand.metrics.boxes import mass_chance, mass_in_box, pointing_chance, pointing_game
from attention_by_hand.metrics.heads import Head, best_head, even_score, gold_pairs, head_scores
from attention_by_hand.metrics.language import bits, prefix_matching
from attention_by_hand.metrics.text import bleu, chrf, exact_match, token_accuracy
from attention_by_hand.metrics.weights import entropy, linear_probe, mass_on_gold, top1_position_accuracy

__all__ = [
    "Head",
    "IBMModel1",
    "alignment_error_rate",
    "best_head",
    "bits",
    "bleu",
    "chrf",
    "diagonal_links",
    "diagonal_weights",
    "entropy",
    "even_score",
    "exact_match",
    "gold_pairs",
    "head_scores",
    "linear_probe",
    "links_from_weights",
    "mass_chance",
    "mass_in_box",
    "mass_on_gold",
    "mass_on_links",
    "pointing_chance",
    "pointing_game",
    "prefix_matching",
    "sure_accuracy",
    "token_accuracy",
    "top1_position_accuracy",
    "uniform_links",
    "uniform_weights",
]
