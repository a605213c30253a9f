"""What chapters train: thin compositions of layers."""

from attention_by_hand.models.bae import bae_model
from attention_by_hand.models.bites import order_race
from attention_by_hand.models.log_reader import LogReader
from attention_by_hand.models.race import fetch_race, recall_race
from attention_by_hand.models.recall import recall_model
from attention_by_hand.models.tastes import ChunkHeads, UniformHead, taste_race

__all__ = [
    "ChunkHeads",
    "LogReader",
    "UniformHead",
    "bae_model",
    "fetch_race",
    "order_race",
    "recall_model",
    "recall_race",
    "taste_race",
]
