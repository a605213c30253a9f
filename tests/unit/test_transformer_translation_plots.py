"""Chapter 14's figures: curves with their line, a bar for every head, one star, and the rates to compare with."""

import numpy as np
import pytest

from attention_by_hand import diagram, plots, strings

RATES = np.array([[0.5, 0.4, 0.35], [0.3, 0.25, 0.45]])


def figure(chosen=(1, 1)):
    return plots.head_rates(RATES, [0.33, 0.2], chosen, {"IBM": 0.11, "chance": 0.88})


def test_every_head_and_every_mean_has_its_bar_in_the_order_of_the_blocks():
    (ax,) = figure().axes
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], [0.5, 0.4, 0.35, 0.33, 0.3, 0.25, 0.45, 0.2])
    names = [label.get_text() for label in ax.get_xticklabels()]
    heads = [strings.text("plots.head_rates.head", number=n) for n in (1, 2, 3)]
    assert names == 2 * [*heads, strings.text("plots.head_rates.mean")]


@pytest.mark.parametrize("chosen", [(0, 2), (1, 0)])
def test_the_star_is_at_the_chosen_head_and_nowhere_else(chosen):
    (ax,) = figure(chosen).axes
    starred = [text.get_text() for text in ax.texts if "★" in text.get_text()]
    assert starred == [f"{RATES[chosen]:.2f} ★"]


def test_the_lines_stand_where_their_rates_are_and_say_so():
    picture = figure()
    lines = {line.get_label(): line.get_ydata()[0] for line in picture.axes[0].get_lines()}
    assert lines == {"IBM 0.11": 0.11, "chance 0.88": 0.88}
    assert picture.axes[0].get_ylim()[1] > 0.88


def test_curves_are_drawn_at_their_updates_above_a_line_at_the_share():
    picture = plots.by_updates({"a": ([25, 50], [0.1, 0.9]), "b": ([25, 50, 75], [0, 0.2, 0.3])}, share=0.8)
    a, b, line = picture.axes[0].get_lines()
    np.testing.assert_allclose(a.get_xydata(), [[25, 0.1], [50, 0.9]])
    np.testing.assert_allclose(b.get_xydata(), [[25, 0], [50, 0.2], [75, 0.3]])
    assert set(line.get_ydata()) == {0.8}
    assert a.get_linestyle() != b.get_linestyle() and a.get_marker() != b.get_marker()


def test_the_drawing_has_the_three_attentions_and_a_mask_for_each():
    labels = [text.get_text() for text in diagram("transformer_translator").axes[0].texts]
    assert labels.count(strings.text("diagrams.transformer_translator.source_mask")) == 2
    assert strings.text("diagrams.transformer_translator.past") in labels
