"""What chapters train: thin compositions of layers."""

from attention_by_hand.models.bae import bae_model
from attention_by_hand.models.bites import order_race
from attention_by_hand.models.captioner import Captioner
from attention_by_hand.models.distance import UniformReader, distance_race, starts
from attention_by_hand.models.extractor import build_extractor, extract, pretrain_extractor
from attention_by_hand.models.forecast import ReadOutMLP, UniformBlock, forecast_race
from attention_by_hand.models.log_reader import LogReader
from attention_by_hand.models.loss_curve import LossCurve
from attention_by_hand.models.mark_pairs import UniformGrid, pair_race, wide_field
from attention_by_hand.models.pretrained import pretrained_extractor
from attention_by_hand.models.race import fetch_race, recall_race
from attention_by_hand.models.recall import recall_model
from attention_by_hand.models.stations import station_race
from attention_by_hand.models.tastes import ChunkHeads, UniformHead, taste_race
from attention_by_hand.models.translator import Translator

__all__ = [
    "Captioner",
    "ChunkHeads",
    "LogReader",
    "LossCurve",
    "ReadOutMLP",
    "Translator",
    "UniformBlock",
    "UniformGrid",
    "UniformHead",
    "UniformReader",
    "bae_model",
    "build_extractor",
    "distance_race",
    "extract",
    "fetch_race",
    "order_race",
    "pair_race",
    "pretrain_extractor",
    "pretrained_extractor",
    "recall_model",
    "recall_race",
    "starts",
    "station_race",
    "forecast_race",
    "taste_race",
    "wide_field",
]
