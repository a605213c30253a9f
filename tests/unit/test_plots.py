"""Every figure and every diagram can be drawn, read and heard: PNG, glyphs, labels that fit, text alternative."""

import re
import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch

from attention_by_hand import datasets, diagrams, metrics, plots, strings
from attention_by_hand.datasets import Pair
from attention_by_hand.diagrams import DIAGRAMS, diagram
from attention_by_hand.plots import common, fonts

KOREAN = ["전력", "영화", "음악", "AI"]
WEIGHTS = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]])
TITLE = "plots.start.title"


def numbers(*shape):
    return np.random.default_rng(0).uniform(0.1, 0.9, size=shape)


LINKED = Pair(("we", "eat"), ("우리는", "먹고"), frozenset({(1, 1)}), frozenset({(1, 1), (0, 0)}))  # of chapter 03

# One call of each public figure; a figure that is missing here fails the first test.
SCENES = datasets.scenes(2, language="ko")
PAIRS = datasets.mark_pairs(2)
EXAMPLES = {
    "all_maps": lambda: plots.all_maps(numbers(2, 3, 4, 4), KOREAN, marked=[(1, 2)]),
    "head_strips": lambda: plots.head_strips(
        {name: metrics.best_head(numbers(4, 2, 3)) for name in ("previous", "next", "same", "subject")},
        dict.fromkeys(("previous", "next", "same", "subject"), 0.2),
    ),
    "paraphrase_scatter": lambda: plots.paraphrase_scatter(
        {name: (numbers(9), numbers(9)[::-1]) for name in ("words", "random", "sentence")}
    ),
    "pair_sheet": lambda: plots.pair_sheet(PAIRS["image"], PAIRS["colour"], PAIRS["distance"]),
    "cell_maps": lambda: plots.cell_maps(PAIRS["image"], numbers(2, 8, 8), [[1, 2], [3, 4]], PAIRS["corner"][:, 1]),
    "scene_sheet": lambda: plots.scene_sheet(SCENES["images"], SCENES["captions"], SCENES["boxes"]),
    "word_maps": lambda: plots.word_maps(
        SCENES["images"][0], SCENES["captions"][0], numbers(8, 4, 4), *(x[0] for x in datasets.word_boxes(SCENES))
    ),
    "alignment_maps": lambda: plots.alignment_maps([numbers(4, 5), numbers(3, 4)], [LINKED, LINKED]),
    "rank_distance": lambda: plots.rank_distance(
        {name: numbers(4) ** number for number, name in enumerate(("skip+mlp", "skip", "mlp", "neither"), start=1)}
    ),
    "gradient_by_depth": lambda: plots.gradient_by_depth(
        {order: {depth: numbers(depth) for depth in (2, 6)} for order in ("post", "pre")}
    ),
    "warm_up": lambda: plots.warm_up(
        {("post", False): numbers(5), ("post", True): numbers(5), ("pre", False): numbers(5)}, steps=16, guess=2.3
    ),
    "by_updates": lambda: plots.by_updates({"RNN": ([25, 50], numbers(2)), "mean": ([25, 50, 75], numbers(3))}),
    "head_rates": lambda: plots.head_rates(numbers(2, 3), numbers(2), (1, 2), {"IBM": 0.11, "chance": 0.88}),
    "bits_by_order": lambda: plots.bits_by_order(
        [1, 2, 3],
        {"all": numbers(3), "far": numbers(3)[::-1]},
        {"transformer_all": 0.25, "transformer_far": 0.12},
        floor=0.2,
    ),
    "surprise": lambda: plots.surprise(
        "미나는 사과를", {"ngram": numbers(7), "transformer": numbers(7)}, [0, 0, 1, 1, 0, 2, 2]
    ),
    "drawn_from": lambda: plots.drawn_from({"τ = 1": numbers(3), "top-k": numbers(3)}, {"x": 2, "y": 0}),
    "induction": lambda: plots.induction(
        numbers(3, 3), list("aba"), numbers(3, 3) > 0.5, {"two": numbers(2, 2), "one": numbers(1, 2)}, chance=0.12
    ),
    "bars": lambda: plots.bars(KOREAN, numbers(4), title=TITLE),
    "curves": lambda: plots.curves([2, 4, 8], {"a": numbers(3), "전력": numbers(3)}, title=TITLE, log="xy"),
    "heatmap": lambda: plots.heatmap(WEIGHTS, ["transformer", "attention"], KOREAN, title=TITLE),
    "kernel_regression": lambda: plots.kernel_regression(
        numbers(9), numbers(9), np.linspace(0, 1, 20), numbers(20), 0.5, np.full(9, 1 / 9)
    ),
    "recall_map": lambda: plots.recall_map(
        numbers(2, 4), [[3, 5, 1, 0], [2, 4, 6, 7]], queries=[5, 7], position=[1, 3]
    ),
    "accuracy_against_width": lambda: plots.accuracy_against_width([4, 8], {"a": numbers(2), "b": numbers(2)}, 0.3),
    "flattened": lambda: plots.flattened(WEIGHTS, WEIGHTS / 2, ["transformer", "attention"], KOREAN),
    "saturation": lambda: plots.saturation([4, 8], {"a": numbers(2)}, {"a": numbers(2)}, even=2.3),
    "weights_against_width": lambda: plots.weights_against_width({"q·k": {4: numbers(3, 5), 8: numbers(3, 5)}}),
    "dependence": lambda: plots.dependence({"embedding": np.eye(3), "attention": numbers(3, 3)}, KOREAN[:3]),
    "two_tables": lambda: plots.two_tables(numbers(3, 3), numbers(3, 3), KOREAN[:3]),
    "bae_map": lambda: plots.bae_map(
        numbers(2, 3),
        [["배", "타고", ""], ["배", "먹으니", "배"]],
        [["a", "b", ""], ["c", "d", "e"]],
        ["ship", "pear"],
        [1, 1],
    ),
    "mask_grids": lambda: plots.mask_grids({"causal": np.tri(3, 4, dtype=bool)}),
    "leak_scores": lambda: plots.leak_scores(["a", "b"], numbers(2), numbers(2), numbers(2), 0.25),
    "reach_maps": lambda: plots.reach_maps({"a": np.tri(4, dtype=bool), "b": np.eye(4, dtype=bool)}, 3),
    "two_orders": lambda: plots.two_orders([numbers(3, 3), numbers(3, 3).T], [["개", "사람", "문다"]] * 2),
    "waves": lambda: plots.waves(2 * numbers(30, 6) - 1, columns=[0, 1, 4]),
    "table_and_bits": lambda: plots.table_and_bits(2 * numbers(9, 6) - 1, np.eye(3)),
    "products": lambda: plots.products(numbers(12, 4), starts=[3, 6], formula=numbers(7)),
    "fading": lambda: plots.fading({"attention": numbers(4), "skip": numbers(4), "again": numbers(4)}),
    "asked_verbs": lambda: plots.asked_verbs(numbers(2, 4), [["dog", "bites", "man"], ["cat", "sees"]], [1, 1], [0, 0]),
    "bias_maps": lambda: plots.bias_maps({n: numbers(5, 5) - 0.4 for n in ("absolute", "shaw", "rotary", "alibi")}),
    "beyond": lambda: plots.beyond({"none": numbers(16), "shaw": numbers(16), "alibi": numbers(16)}, 8, 0.1, smooth=4),
    "learned_distances": lambda: plots.learned_distances({n: -numbers(3, 9) for n in ("shaw", "alibi", "rotary")}, 4),
    "chunk_maps": lambda: plots.chunk_maps({"chunks": np.eye(2), "mixed": numbers(2, 2), "whole": numbers(2, 2)}),
    "head_maps": lambda: plots.head_maps({"one": numbers(3), "two": numbers(3)}, ["Anna likes pear"] * 3, [2, 0]),
    "head_scores": lambda: plots.head_scores(["one", "two"], numbers(2, 2), np.eye(2, dtype=bool), even=0.25),
    "reach_grid": lambda: plots.reach_grid({"a": np.tri(4), "b": np.eye(4)}),
    "costs": lambda: plots.costs(
        2 ** np.arange(5), {"a": numbers(5), "b": numbers(5)}, [4, 8], {"a": numbers(2), "b": numbers(2)}, (256, 64)
    ),
    "fading_gradient": lambda: plots.fading_gradient(
        [1, 2, 3], {"a": np.array([1, 0.1, 0]), "b": numbers(3)}, {"a": np.array([1, 0.1, 0]), "b": numbers(3)}
    ),
    "by_distance": lambda: plots.by_distance(
        [1, 2, 3], {"a": numbers(3), "b": numbers(3)}, {"a": numbers(3), "b": numbers(3)}, guess=0.1, half=0.6
    ),
    "teacher_forcing": lambda: plots.teacher_forcing(
        ["[START]", "pan", "[END]", "[PAD]"], ["pan", "[END]", "[PAD]", "[PAD]"]
    ),
    "falling_loss": lambda: plots.falling_loss([10, 20, 30], {"a": numbers(3), "b": numbers(3)}),
    "by_things": lambda: plots.by_things([1, 2, 3], {"a": numbers(3), "b": numbers(3)}),
    "by_place": lambda: plots.by_place({"a": numbers(3), "b": numbers(3)}),
    "seeds_and_weights": lambda: plots.seeds_and_weights(
        {"torch": numbers(6), "jax": -numbers(6)}, {"torch": numbers(12), "jax": numbers(12)}
    ),
}


def png(figure):
    """The PNG of a figure; a glyph that no font has is an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*[Gg]lyph.*")
        warnings.filterwarnings("error", message=".*constrained_layout.*")
        return figure._repr_png_()


def test_every_public_figure_has_an_example_here():
    assert sorted(EXAMPLES) == sorted(plots.__all__)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_figure_becomes_a_png_without_missing_glyphs(name):
    assert png(EXAMPLES[name]()).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_figure_says_its_finding_in_words(name):
    figure = EXAMPLES[name]()
    assert len(figure.alt.split()) >= 4
    assert repr(figure) == figure.alt


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_figure_is_readable_without_colour(name):
    """Lines that share axes differ in dash or marker, not in colour alone."""
    for ax in EXAMPLES[name]().axes:
        looks = [(line.get_linestyle(), str(line.get_marker())) for line in ax.get_lines() if len(line.get_xdata()) > 2]
        assert len(looks) == len(set(looks))


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_diagram_becomes_a_png_and_has_a_text_alternative(name):
    figure = diagram(name)
    assert png(figure).startswith(b"\x89PNG")
    assert repr(figure) == strings.text(f"diagrams.{name}.alt")
    assert len(figure.alt.split()) >= 8


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_label_of_every_box_fits_into_it(name):
    figure = diagram(name)
    with common.style():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        (ax,) = figure.axes
        boxes = [p for p in ax.patches if isinstance(p, FancyBboxPatch)]
        labels = [t for t in ax.texts if t.get_text() and not t.get_text().startswith("▸")]
        assert len(boxes) == len(labels) == len(DIAGRAMS[name].nodes)
        for box, label in zip(boxes, labels, strict=True):
            outer, inner = box.get_window_extent(renderer), label.get_window_extent(renderer)
            fits = inner.x0 >= outer.x0 and inner.x1 <= outer.x1 and inner.y0 >= outer.y0 and inner.y1 <= outer.y1
            assert fits, (name, label.get_text())


@pytest.mark.parametrize("name", DIAGRAMS)
def test_boxes_of_a_diagram_do_not_overlap(name):
    nodes = DIAGRAMS[name].nodes
    for i, a in enumerate(nodes):
        for b in nodes[i + 1 :]:
            apart_x = abs(a.column - b.column) * 2 >= diagrams._WIDTH + 0.1
            assert apart_x or abs(a.row - b.row) >= diagrams._HEIGHT + 0.1, (a.name, b.name)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_arrows_of_a_diagram_join_boxes_that_exist_and_leave_none_out(name):
    drawing = DIAGRAMS[name]
    names = {node.name for node in drawing.nodes}
    ends = [end for arrow in drawing.arrows for end in arrow.split()]
    assert set(ends) == names


def test_an_unknown_diagram_lists_the_known_ones():
    with pytest.raises(KeyError, match="additive"):
        diagram("nothing")


def test_korean_labels_are_romanised_without_a_korean_font(monkeypatch):
    monkeypatch.setattr(fonts, "korean_font", lambda: None)
    figure = EXAMPLES["heatmap"]()
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert shown == ["jeollyeok", "yeonghwa", "eumak", "AI"]
    assert png(figure)
    assert fonts.families() == ["DejaVu Sans"]


def test_a_korean_font_comes_before_the_one_for_symbols(monkeypatch):
    monkeypatch.setattr(fonts, "korean_font", lambda: "Noto Sans KR")
    assert fonts.families() == ["Noto Sans KR", "DejaVu Sans"]


def test_a_heatmap_writes_every_weight_and_shades_from_zero():
    figure = EXAMPLES["heatmap"]()
    (image,) = figure.axes[0].get_images()
    assert [t.get_text() for t in figure.axes[0].texts] == [f"{w:.2f}" for w in WEIGHTS.ravel()]
    assert (image.norm.vmin, image.norm.vmax) == (0, 0.4)


def test_a_heatmap_shows_queries_as_rows():
    ax = EXAMPLES["heatmap"]().axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["transformer", "attention"]


def test_bars_of_the_same_name_stay_apart():
    figure = plots.bars(["배", "배", "배"], [1.0, 2.0, 3.0], title=TITLE)
    assert sorted(bar.get_height() for bar in figure.axes[0].patches) == [1, 2, 3]
    assert len({bar.get_x() for bar in figure.axes[0].patches}) == 3


def test_figures_take_tensors_of_the_backend():
    from keras import ops

    figure = plots.heatmap(ops.convert_to_tensor(WEIGHTS), ["a", "b"], KOREAN, title=TITLE)
    np.testing.assert_allclose(figure.axes[0].get_images()[0].get_array(), WEIGHTS, atol=1e-6)


def test_a_figure_leaves_the_settings_of_matplotlib_alone():
    before = dict(matplotlib.rcParams)
    png(EXAMPLES["curves"]())
    assert dict(matplotlib.rcParams) == before


def test_seeds_and_weights_draws_each_backend_in_both_panels():
    figure = EXAMPLES["seeds_and_weights"]()
    assert [len(ax.collections) for ax in figure.axes] == [2, 2]
    np.testing.assert_allclose(figure.axes[0].collections[1].get_offsets()[:, 1], -numbers(6))
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["torch", "jax"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_key_of_the_string_table_is_shown_in_place_of_its_text(name):
    figure = EXAMPLES[name]()
    texts = [figure.alt, *(t.get_text() for ax in figure.axes for t in (ax.title, ax.xaxis.label, ax.yaxis.label))]
    assert not [t for t in texts if re.search(r"\bplots\.\w+\.\w+", t)]


def test_cells_of_the_reach_grid_are_marked_where_a_gradient_is_not_zero():
    figure = plots.reach_grid({"a": np.array([[0.5, 0.0], [1e-30, 2.0]])})
    assert sorted(text.get_position() for text in figure.axes[0].texts) == [(0, 0), (0, 1), (1, 1)]


def test_a_gradient_of_zero_is_left_out_on_the_logarithmic_axis():
    line = EXAMPLES["fading_gradient"]().axes[0].get_lines()[0]
    np.testing.assert_array_equal(np.isnan(line.get_ydata()), [False, False, True])


def test_the_path_of_a_diagram_is_thicker_than_its_other_arrows():
    from attention_by_hand.diagrams import _THICK

    drawing, figure = DIAGRAMS["three_ways"], diagram("three_ways")
    widths = [text.arrow_patch.get_linewidth() for text in figure.axes[0].texts if hasattr(text, "arrow_patch")]
    assert len(widths) == len(drawing.arrows)
    assert widths.count(_THICK["lw"]) == len(drawing.path) == len(set(drawing.path) & set(drawing.arrows))
    assert {text.get_text() for text in figure.texts} >= {"recurrence", "self-attention"}


def test_bias_maps_leave_the_future_grey_and_centre_each_scale_at_zero():
    figure = EXAMPLES["bias_maps"]()
    images = [ax.get_images()[0] for ax in figure.axes if ax.get_images()]
    assert len(images) == 4
    for image in images:
        shown = np.ma.filled(image.get_array(), np.nan)
        np.testing.assert_array_equal(np.isnan(shown), ~np.tri(5, dtype=bool))
        assert image.norm.vmin == -image.norm.vmax


def test_accuracy_beyond_training_is_the_mean_of_each_block_and_sorted_into_two_panels():
    figure = EXAMPLES["beyond"]()
    curves = [[line for line in ax.get_lines() if len(line.get_xdata()) > 2] for ax in figure.axes]
    assert [len(lines) for lines in curves] == [1, 2]
    np.testing.assert_allclose(curves[0][0].get_ydata(), numbers(16).reshape(4, 4).mean(axis=1))
    np.testing.assert_allclose(curves[0][0].get_xdata(), [1.5, 5.5, 9.5, 13.5])
    assert [ax.get_lines()[-2].get_xdata()[0] for ax in figure.axes] == [7.5, 7.5]  # where training ends


def test_learned_distances_start_at_one_and_at_a_best_score_of_zero():
    figure = EXAMPLES["learned_distances"]()
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 2]
    assert len(lines) == 3 and list(lines[0].get_xdata()) == list(range(1, 10))
    for line, expected in zip(lines, -numbers(3, 9), strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected - expected.max())


def test_alignment_maps_frame_the_gold_links_and_count_the_hits():
    figure = plots.alignment_maps([np.array([[0.9, 0.1], [0.8, 0.2]])], [LINKED])
    (ax,) = figure.axes
    frames = {(round(p.get_x() + 0.45), round(p.get_y() + 0.45)): p.get_linestyle() for p in ax.patches}
    assert set(frames) == {(1, 1), (0, 0)}  # (source, target): the sure link, and the one that is only possible
    assert frames[1, 1] in ("-", "solid") and frames[0, 0] not in ("-", "solid")
    assert figure.alt.startswith("1 of 2 words")


@pytest.mark.parametrize(("weights", "pairs"), [([], []), ([np.eye(2)], [LINKED, LINKED]), ([np.eye(2)[:1]], [LINKED])])
def test_alignment_maps_refuse_weights_that_do_not_fit(weights, pairs):
    with pytest.raises(ValueError, match="weights"):
        plots.alignment_maps(weights, pairs)
