"""The files of the translation data, their splits and cards, and the shopping lists."""

import re
import statistics
import subprocess
import sys
from collections import Counter

import pytest

from attention_by_hand import datasets
from attention_by_hand.datasets.translation import LANGUAGES, files, generate

from .conftest import ROOT, environment
from .test_translation_grammar import FUNCTION, lemma, phrases

DATA = ROOT / "data"
ENGLISH = [pair.source for split in datasets.translation("es").splits.values() for pair in split]


@pytest.fixture(scope="module")
def spanish():
    return datasets.translation("es")


@pytest.fixture(scope="module")
def shopping():
    return datasets.shopping()


@pytest.mark.parametrize("language", LANGUAGES)
def test_file_is_what_the_grammar_makes_byte_for_byte(language):
    pairs = generate(language)
    made = files.to_text(pairs)
    assert (DATA / f"translation_{language}.tsv").read_bytes() == made.encode("utf-8")
    assert files.from_text(made) == pairs


def test_the_text_does_not_depend_on_the_hash_seed():
    code = (
        "from attention_by_hand.datasets.translation import files, generate\n"
        "print(files.checksum(files.to_text(generate('fr'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(PYTHONHASHSEED="1"), capture_output=True)
    assert done.stdout.decode().strip() == files.CHECKSUMS["fr"], done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_file_the_same_pairs_are_made_in_memory(language, tmp_path):
    made, read = datasets.translation(language, folder=tmp_path), datasets.translation(language)
    assert made.splits == read.splits and made.source.words == read.source.words
    assert made.target.words == read.target.words and list(tmp_path.iterdir()) == []


def test_a_changed_file_is_refused_and_never_replaced_silently(tmp_path):
    path = tmp_path / "translation_ko.tsv"
    content = (DATA / path.name).read_bytes()
    path.write_bytes(content[:-40])
    with pytest.raises(ValueError, match=rf"{path.name} is not the file that belongs here.*delete it"):
        datasets.translation("ko", folder=tmp_path)
    path.write_bytes(b"\xff\xfe" + content)
    with pytest.raises(ValueError, match=rf"{path.name} cannot be read.*delete it"):
        datasets.translation("ko", folder=tmp_path)


def test_line_ends_of_windows_are_the_same_file(tmp_path):
    path = tmp_path / "translation_es.tsv"
    path.write_bytes((DATA / path.name).read_bytes().replace(b"\n", b"\r\n"))
    assert datasets.translation("es", folder=tmp_path).splits == datasets.translation("es").splits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n", "line 1 must be the names of the columns"),
        ("source\ttarget\tlinks\nwe\tnous\t0\n", "line 2 .* no split is named"),
        ("source\ttarget\tlinks\n# train\nwe\tnous\n", "line 3 .* three columns"),
        ("source\ttarget\tlinks\n# train\nwe eat\tnous mangeons\t0\n", "2 target words and links for 1"),
        ("source\ttarget\tlinks\n# train\nwe eat\tnous mangeons\t0 2!\n", "word 2 of 2 source words"),
        ("source\ttarget\tlinks\n# train\nwe eat\tnous mangeons\t0 x\n", "line 3 cannot be read"),
    ],
)
def test_a_malformed_line_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        files.from_text(text, "file.tsv")


def test_an_unknown_language_is_named():
    with pytest.raises(ValueError, match="'es', 'fr', 'ko'; got 'de'"):
        datasets.translation("de")


def test_another_seed_gives_other_sentences(spanish, tmp_path):
    other = datasets.translation("es", seed=1, folder=tmp_path)
    shared = {p.source for p in other.splits["long"]} & {p.source for p in spanish.splits["long"]}
    assert len(shared) < 50 and len(other.splits["train"]) == 8000


def test_splits_have_their_sizes_and_no_sentence_twice(spanish):
    sizes = {name: len(pairs) for name, pairs in spanish.splits.items()}
    assert sizes == {"train": 8000, "validation": 512, "random": 512, "pairs": 512, "long": 512}
    everything = ENGLISH + [pair.source for pair in spanish.examples]
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_three_languages_translate_the_same_sentences(language):
    splits = datasets.translation(language).splits
    assert [pair.source for split in splits.values() for pair in split] == ENGLISH


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_every_split_occurs_in_training(language):
    corpus = datasets.translation(language)
    shown = [*corpus.examples, *(pair for split in corpus.splits.values() for pair in split)]
    assert all(word in corpus.source for pair in shown for word in pair.source)
    assert all(word in corpus.target for pair in shown for word in pair.target)
    assert 100 <= len(corpus.source) - 4 <= 120


def combinations(pair):
    return {(pair.source[a], lemma(pair.source[noun])) for adjectives, noun in phrases(pair.source) for a in adjectives}


def test_pairs_has_combinations_that_nothing_else_has(spanish):
    elsewhere = set().union(*(combinations(p) for n, s in spanish.splits.items() if n != "pairs" for p in s))
    new = [combinations(pair) - elsewhere for pair in spanish.splits["pairs"]]
    assert all(new) and len(set().union(*new)) > 25
    known = set().union(*(combinations(pair) for pair in spanish.splits["train"]))
    for adjective, noun in set().union(*new):
        assert adjective in {a for a, _ in known} and noun in {n for _, n in known}


def test_long_is_longer_than_everything_else(spanish):
    lengths = {name: [len(pair.source) for pair in pairs] for name, pairs in spanish.splits.items()}
    assert min(lengths.pop("long")) > max(max(each) for each in lengths.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_card_states_checksums_and_statistics(language):
    text = (DATA / "translation.md").read_text(encoding="utf-8")
    assert f"`translation_{language}.tsv` | `{files.CHECKSUMS[language]}`" in text
    corpus = datasets.translation(language)
    train, long = corpus.splits["train"], corpus.splits["long"]
    row = [
        len(corpus.target) - 4,
        f"{statistics.mean(len(p.target) for p in train):.2f}",
        max(len(p.target) for p in train),
        f"{statistics.mean(len(p.target) for p in long):.2f}",
        max(len(p.target) for p in long),
        f"{statistics.mean(len(p.sure) for p in train):.2f}",
        f"{statistics.mean(len(p.possible) for p in train):.2f}",
    ]
    assert f"| {language} | " + " | ".join(map(str, row)) + " |" in text
    assert f"English has {len(corpus.source) - 4} words" in text


def test_the_card_states_the_scores_of_the_baselines():
    text = (DATA / "translation.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| (es|fr|ko) \| (random|pairs|long) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.M)
    assert len(stated) == 9
    code = (
        "from attention_by_hand import datasets, metrics as m\n"
        "for language in ('es', 'fr', 'ko'):\n"
        "    splits = datasets.translation(language).splits\n"
        "    model = m.IBMModel1().fit(*list(zip(*splits['train']))[:2])\n"
        "    for name in ('random', 'pairs', 'long'):\n"
        "        s, t, sure, possible = zip(*splits[name])\n"
        "        links = m.uniform_links(s, t), m.diagonal_links(s, t), model.links(s, t)\n"
        "        print(language, name, *(f'{m.alignment_error_rate(x, sure, possible):.4f}' for x in links))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(KERAS_BACKEND="torch"), capture_output=True)
    measured = [line.split() for line in done.stdout.decode().splitlines()]
    assert [row[:2] for row in measured] == [list(row[:2]) for row in stated], done.stderr.decode()
    for row, card in zip(measured, stated, strict=True):
        assert [float(x) for x in row[2:]] == pytest.approx([float(x) for x in card[2:]], abs=0.006), row


def test_shopping_lists_have_their_sizes_and_share_no_sentence(shopping):
    sizes = {name: len(pairs) for name, pairs in shopping.splits.items()}
    assert sizes == {"train": 20000, "validation": 512, **{k: 100 for k in "12345"}}
    distinct = [{pair.source for pair in pairs} for pairs in shopping.splits.values()]
    assert len(set().union(*distinct)) == sum(map(len, distinct))
    assert all(len(d) == sizes[name] for name, d in zip(sizes, distinct, strict=True) if name != "train")


def test_shopping_lists_have_as_many_things_as_they_say(shopping):
    for k in "12345":
        assert all(pair.source.count("and") == int(k) - 1 for pair in shopping.splits[k])
    counts = Counter(pair.source.count("and") + 1 for pair in shopping.splits["train"])
    shares = [counts[k] / 20000 for k in range(1, 6)]
    assert shares == pytest.approx([5 / 12, 3 / 12, 2 / 12, 1 / 12, 1 / 12], abs=0.015)


def test_shopping_lists_link_every_word_with_a_meaning_once(shopping):
    for pair in (pair for split in shopping.splits.values() for pair in split):
        meaning = [s for s, word in enumerate(pair.source) if word not in FUNCTION | {"and"}]
        assert sorted(s for _, s in pair.sure) == meaning and pair.sure <= pair.possible
        assert {t for t, _ in pair.possible} == set(range(len(pair.target)))


def test_shopping_sentences_are_right(shopping):
    texts = {" ".join(p.source): " ".join(p.target) for split in shopping.splits.values() for p in split}
    assert not [text for text in texts if re.search(r"\ba [aeiou]|\ban [^aeiou]", text)]
    feminine = set("house letter apple table chair lamp bag bicycle".split())
    for source, target in texts.items():
        things = re.findall(r"(the|an?) (?:\S+ )?(\S+)(?= and|$)", source)
        articles = re.findall(r"\b(el|la|una?)\b", target)
        expected = [{"the": ("el", "la")}.get(a, ("un", "una"))[noun in feminine] for a, noun in things]
        assert articles == expected, (source, target)


def test_the_card_of_the_shopping_lists_states_their_checksum(shopping):
    text = (DATA / "shopping.md").read_text(encoding="utf-8")
    assert f"`shopping()` | `{files.checksum(files.to_text(shopping.splits))}`" in text
    assert f"{len(shopping.source) - 4} English and {len(shopping.target) - 4} Spanish words" in text
    assert f"{len({p.source for p in shopping.splits['train']})} of the 20000 training sentences are different" in text


@pytest.mark.parametrize(("sizes", "message"), [({"test": 0}, "at least 1"), ({"test": 1200}, "at most 1344")])
def test_shopping_refuses_sizes_that_do_not_exist(sizes, message):
    with pytest.raises(ValueError, match=message):
        datasets.shopping(**sizes)
