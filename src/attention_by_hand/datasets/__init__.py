"""Small data sets made by our own code, each with gold labels, so that attention is scored and not admired."""

from attention_by_hand.datasets.bae import bae_sentences, bae_text
from attention_by_hand.datasets.bites import spelled, who_bites_whom
from attention_by_hand.datasets.delivery_log import delivery_log, prefixes, without_tags
from attention_by_hand.datasets.fetch import contents, match_and_fetch
from attention_by_hand.datasets.recall import keyed_recall, without_gold
from attention_by_hand.datasets.tastes import likes_and_dislikes, taste_text, taste_vectors, without_answers

__all__ = [
    "bae_sentences",
    "bae_text",
    "contents",
    "delivery_log",
    "keyed_recall",
    "likes_and_dislikes",
    "match_and_fetch",
    "prefixes",
    "spelled",
    "taste_text",
    "taste_vectors",
    "who_bites_whom",
    "without_answers",
    "without_gold",
    "without_tags",
]
