"""Scenes: pictures of two objects on a ground, with the one right caption and a gold box for every object."""

from attention_by_hand.datasets.scenes.captions import COLOURS, LANGUAGES, REFERS, RELATIONS, scene_words
from attention_by_hand.datasets.scenes.draw import (
    KEPT_OUT,
    SPLITS,
    USED,
    scene_table,
    scenes,
    single_shapes,
    word_boxes,
)
from attention_by_hand.datasets.scenes.grounds import GROUNDS
from attention_by_hand.datasets.scenes.openmoji import openmoji_glyphs, openmoji_scenes
from attention_by_hand.datasets.scenes.shapes import SHAPES

__all__ = [
    "COLOURS",
    "GROUNDS",
    "KEPT_OUT",
    "LANGUAGES",
    "REFERS",
    "RELATIONS",
    "SHAPES",
    "SPLITS",
    "USED",
    "openmoji_glyphs",
    "openmoji_scenes",
    "scene_table",
    "scene_words",
    "scenes",
    "single_shapes",
    "word_boxes",
]
