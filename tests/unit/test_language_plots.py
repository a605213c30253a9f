"""The figures of chapter 15 show the numbers that they were given."""

import numpy as np
import pytest

from attention_by_hand import plots


def test_bits_by_order_draws_every_order_and_both_lines():
    series = {"all": [3.0, 1.5, 0.5], "far": [4.0, 1.75, 0.75]}
    figure = plots.bits_by_order([1, 2, 3], series, {"transformer_all": 0.25, "transformer_far": 0.125}, floor=0.2)
    lines = [line.get_ydata() for line in figure.axes[0].lines]
    assert [list(y) for y in lines] == [series["all"], series["far"], [0.25] * 2, [0.125] * 2, [0.2] * 2]
    assert figure.alt


def test_surprise_shows_each_character_with_its_bits_and_frames_what_is_marked():
    text, bits = "abcdefghij", np.arange(10) / 2
    figure = plots.surprise(text, {"ngram": bits, "transformer": bits[::-1]}, [0, 0, 1, 1, 0, 2, 2, 2, 0, 3], line=6)
    first, second = figure.axes[:2]
    assert first.images[0].get_array().tolist() == [bits[:6].tolist(), bits[::-1][:6].tolist()]
    assert np.isnan(second.images[0].get_array().filled(np.nan)[:, 4:]).all()
    assert [t.get_text() for t in first.texts] == list("abcdef" * 2)
    frames = [[(p.get_x() + 0.5, p.get_width()) for p in ax.patches] for ax in (first, second)]
    assert frames == [[(2, 2), (5, 1)], [(0, 2), (3, 1)]]


def test_what_is_cut_is_crossed_out():
    figure = plots.drawn_from({"τ = 1": [0.5, 0.3, 0.2], "k = 2": [0.0, 0.6, 0.4]}, {"x": 2, "y": 0})
    heights = [[bar.get_height() for bar in ax.patches] for ax in figure.axes]
    assert heights == [[0.2, 0.5], [0.4, 0.0]]
    assert [[t.get_text() for t in ax.texts] for ax in figure.axes] == [[], ["×"]]


def test_induction_shows_all_heads_and_frames_the_gold():
    gold = np.zeros((3, 3), bool)
    gold[2, 1] = True
    scores = {"two": [np.array([0.1, 0.2]), np.array([0.9, 0.3])], "one": [np.array([0.15, 0.25])]}
    figure = plots.induction(np.eye(3), list("aba"), gold, scores, chance=0.12)
    left, right = figure.axes
    assert [(p.get_x() + 0.5, p.get_y() + 0.5) for p in left.patches] == [(1, 2)]
    assert [bar.get_height() for bar in right.patches] == pytest.approx([0.2, 0.1, 0.9, 0.3, 0.25, 0.15])
    assert list(right.lines[0].get_ydata()) == [0.12, 0.12] and len(right.get_xticks()) == 3
