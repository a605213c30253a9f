"""What chapters train: thin compositions of layers."""

from attention_by_hand.models.bae import bae_model
from attention_by_hand.models.bert import BertEmbedding, bert_encoder, encode_texts, mean_of_tokens
from attention_by_hand.models.bert_weights import bert_sizes, load_bert, load_map, random_table
from attention_by_hand.models.bites import order_race
from attention_by_hand.models.captioner import Captioner
from attention_by_hand.models.distance import UniformReader, distance_race, starts
from attention_by_hand.models.exact_clock import ExactClock, Parts, forced_exact
from attention_by_hand.models.extractor import build_extractor, extract, pretrain_extractor
from attention_by_hand.models.forecast import ReadOutMLP, UniformBlock, forecast_race
from attention_by_hand.models.kneser_ney import KneserNey, tune_kneser_ney
from attention_by_hand.models.language_model import LanguageModel
from attention_by_hand.models.log_reader import LogReader
from attention_by_hand.models.loss_curve import LossCurve
from attention_by_hand.models.mark_pairs import UniformGrid, pair_race, wide_field
from attention_by_hand.models.minilm import minilm_files
from attention_by_hand.models.pretrained import pretrained_extractor
from attention_by_hand.models.race import fetch_race, recall_race
from attention_by_hand.models.recall import recall_model
from attention_by_hand.models.safetensors import read_safetensors, write_safetensors
from attention_by_hand.models.stations import station_race
from attention_by_hand.models.tastes import ChunkHeads, UniformHead, taste_race
from attention_by_hand.models.transformer_translator import Recomputing, TransformerTranslator
from attention_by_hand.models.translator import Translator

__all__ = [
    "BertEmbedding",
    "Captioner",
    "ChunkHeads",
    "ExactClock",
    "KneserNey",
    "LanguageModel",
    "LogReader",
    "LossCurve",
    "Parts",
    "ReadOutMLP",
    "Recomputing",
    "TransformerTranslator",
    "Translator",
    "UniformBlock",
    "UniformGrid",
    "UniformHead",
    "UniformReader",
    "bae_model",
    "bert_encoder",
    "bert_sizes",
    "build_extractor",
    "distance_race",
    "encode_texts",
    "extract",
    "fetch_race",
    "forced_exact",
    "forecast_race",
    "load_bert",
    "load_map",
    "mean_of_tokens",
    "minilm_files",
    "order_race",
    "pair_race",
    "pretrain_extractor",
    "pretrained_extractor",
    "random_table",
    "read_safetensors",
    "recall_model",
    "recall_race",
    "starts",
    "station_race",
    "taste_race",
    "tune_kneser_ney",
    "wide_field",
    "write_safetensors",
]
