"""Chapter 04's figures: what is bright, where the cross is, and what the title counts."""

import numpy as np
import pytest

from attention_by_hand import plots, strings
from attention_by_hand.plots.captioning import spotlight

WORDS = ("red", "moon", "on", "sand")
NAMED = np.array([True, True, False, False])


def one_heavy(row, column, height=2, width=4):
    weights = np.full((height, width), 0.01)
    weights[row, column] = 1
    return weights


def test_the_heaviest_cell_is_as_bright_as_the_picture_and_lies_where_its_row_and_column_say():
    image = np.random.default_rng(0).uniform(0.2, 1, size=(6, 8, 3))
    seen = spotlight(image, one_heavy(1, 2))  # cells of 3 × 2 pixels
    np.testing.assert_allclose(seen[3:6, 4:6], image[3:6, 4:6])
    seen[3:6, 4:6] = 0
    assert (seen < 0.5 * image).all()


def test_the_title_counts_the_words_that_point_into_their_box():
    image = np.zeros((60, 80, 3), "uint8")  # cells of 30 × 20 pixels; the centre of (1, 2) is x 50, y 45
    maps = np.stack([one_heavy(1, 2), one_heavy(0, 2), one_heavy(1, 2), one_heavy(0, 0), one_heavy(0, 1)])
    boxes = np.array([[45, 40, 55, 50]] * 4)
    figure = plots.word_maps(image, WORDS, maps, boxes, NAMED, columns=3)
    assert figure.alt == strings.text("plots.word_maps.title", hits=1, count=2)
    assert [ax.get_title() for ax in figure.axes[:5]] == [*WORDS, strings.text("plots.word_maps.end")]
    (cross,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(cross.get_xydata(), [[50, 45]])
    assert [len(ax.patches) for ax in figure.axes] == [2, 2, 0, 0, 0, 0]  # frames: only where an object is named


def test_both_objects_are_framed_where_their_boxes_are():
    figure = plots.scene_sheet(np.zeros((1, 64, 64, 3), "uint8"), [WORDS], [[[1, 2, 11, 22], [30, 5, 40, 9]]])
    frames = [patch.get_bbox().extents.tolist() for patch in figure.axes[0].patches]
    assert frames == [[1, 2, 11, 22]] * 2 + [[30, 5, 40, 9]] * 2


def test_wrong_inputs_are_refused_by_name():
    image, maps, boxes = np.zeros((64, 64, 3)), np.ones((4, 2, 2)), np.ones((4, 4))
    with pytest.raises(ValueError, match=r"weights must be \(4 or 5, H, W\)"):
        plots.word_maps(image, WORDS, maps[:3], boxes, NAMED)
    with pytest.raises(ValueError, match="boxes and named must have 4 entries; got 3 and 4"):
        plots.word_maps(image, WORDS, maps, boxes[:3], NAMED)
    with pytest.raises(ValueError, match="must be as many; got 2, 1 and 1"):
        plots.scene_sheet(np.zeros((2, 8, 8, 3)), [WORDS], [boxes[:2]])
