"""Small data sets made by our own code, each with gold labels, so that attention is scored and not admired."""

from attention_by_hand.datasets.bae import bae_sentences, bae_text
from attention_by_hand.datasets.bites import spelled, who_bites_whom
from attention_by_hand.datasets.dates import dates
from attention_by_hand.datasets.delivery_log import delivery_log, prefixes, without_tags
from attention_by_hand.datasets.distance import distance_text, recall_at_distance, without_note
from attention_by_hand.datasets.fetch import contents, match_and_fetch
from attention_by_hand.datasets.forecast import forecast, forecast_text, without_town
from attention_by_hand.datasets.length_batches import LengthBatches, translation_inputs
from attention_by_hand.datasets.mark_pairs import mark_cells, mark_pairs, without_second
from attention_by_hand.datasets.paraphrases import paraphrases, role_swaps, word_overlap
from attention_by_hand.datasets.pronouns import echoes, pronoun_pairs, pronoun_places, pronoun_variants
from attention_by_hand.datasets.pydoc_text import pydoc_paragraphs, pydoc_text
from attention_by_hand.datasets.recall import keyed_recall, without_gold
from attention_by_hand.datasets.repeats import repeated_tokens
from attention_by_hand.datasets.scenes import (
    openmoji_scenes,
    scene_table,
    scene_words,
    scenes,
    single_shapes,
    word_boxes,
)
from attention_by_hand.datasets.shopping import shopping
from attention_by_hand.datasets.stations import journey_text, last_station, without_stations
from attention_by_hand.datasets.stories import (
    KINDS,
    Stories,
    Story,
    exchange_places,
    is_story,
    read_marked,
    stories,
)
from attention_by_hand.datasets.tastes import likes_and_dislikes, taste_text, taste_vectors, without_answers
from attention_by_hand.datasets.translation import Corpus, Pair, Vocabulary, sentence_text, translation
from attention_by_hand.datasets.wordpiece import WordPiece, split_word

__all__ = [
    "KINDS",
    "Corpus",
    "LengthBatches",
    "Pair",
    "Stories",
    "Story",
    "Vocabulary",
    "WordPiece",
    "bae_sentences",
    "bae_text",
    "contents",
    "dates",
    "delivery_log",
    "distance_text",
    "echoes",
    "exchange_places",
    "forecast",
    "forecast_text",
    "is_story",
    "journey_text",
    "keyed_recall",
    "last_station",
    "likes_and_dislikes",
    "mark_cells",
    "mark_pairs",
    "match_and_fetch",
    "openmoji_scenes",
    "paraphrases",
    "prefixes",
    "pronoun_pairs",
    "pronoun_places",
    "pronoun_variants",
    "pydoc_paragraphs",
    "pydoc_text",
    "read_marked",
    "recall_at_distance",
    "repeated_tokens",
    "role_swaps",
    "scene_table",
    "scene_words",
    "scenes",
    "sentence_text",
    "shopping",
    "single_shapes",
    "spelled",
    "split_word",
    "stories",
    "taste_text",
    "taste_vectors",
    "translation",
    "translation_inputs",
    "who_bites_whom",
    "without_answers",
    "without_gold",
    "without_note",
    "without_second",
    "without_stations",
    "without_tags",
    "without_town",
    "word_boxes",
    "word_overlap",
]
