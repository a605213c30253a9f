"""The stories: their files, splits, marks and particles; the help topics; the card."""

import re
import subprocess
import sys

import numpy as np
import pytest

from attention_by_hand import datasets
from attention_by_hand.datasets.stories import LANGUAGES, SIZES, english, files, generate, korean
from attention_by_hand.models import tune_kneser_ney

from .conftest import ROOT, environment

DATA = ROOT / "data"
each_language = pytest.mark.parametrize("language", LANGUAGES)
GRAMMARS = {"en": english, "ko": korean}


@pytest.fixture(scope="module")
def corpora():
    return {language: datasets.stories(language) for language in LANGUAGES}


def everything(corpus):
    return [story for split in corpus.splits.values() for story in split]


@each_language
def test_file_is_what_the_grammar_makes_byte_for_byte(language):
    made = generate(language)
    assert (DATA / f"stories_{language}.txt").read_bytes() == files.to_text(made).encode("utf-8")
    assert files.from_text(files.to_text(made)) == made
    assert {name: len(texts) for name, texts in made.items()} == SIZES[language]


def test_the_text_does_not_depend_on_the_hash_seed():
    code = (
        "from attention_by_hand.datasets.stories import files, generate\n"
        "print(files.checksum(files.to_text(generate('ko'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(PYTHONHASHSEED="1"), capture_output=True)
    assert done.stdout.decode().strip() == files.CHECKSUMS["ko"], done.stderr


@each_language
def test_without_the_file_the_same_stories_are_made_in_memory(language, tmp_path, corpora):
    assert datasets.stories(language, folder=tmp_path) == corpora[language] and list(tmp_path.iterdir()) == []
    assert datasets.stories(language, seed=1).splits["test"] != corpora[language].splits["test"]


def test_a_changed_file_is_refused(tmp_path):
    content = (DATA / "stories_en.txt").read_bytes()
    (tmp_path / "stories_en.txt").write_bytes(content.replace(b"\n", b"\r\n"))  # line ends do not matter
    assert datasets.stories("en", folder=tmp_path) == datasets.stories("en")
    (tmp_path / "stories_en.txt").write_bytes(content[:-40])
    with pytest.raises(ValueError, match="stories_en.txt is not the file that belongs here.*delete it"):
        datasets.stories("en", folder=tmp_path)


@each_language
def test_no_story_stands_twice_in_whatever_splits(language, corpora):
    texts = [story.text for story in everything(corpora[language])]
    assert len(set(texts)) == len(texts)


@each_language
def test_no_two_stories_share_all_their_facts(language, corpora):
    grammar = GRAMMARS[language]
    names, facts = [*grammar.WOMEN, *grammar.MEN], set()
    for story in everything(corpora[language]):
        slots = {(kind, story.text[start:end]) for kind, start, end in story.slots() if kind != "pronoun"}
        people = sorted((story.text.find(name), name) for name in names if name in story.text)
        facts.add((tuple(name for _, name in people), *sorted(slots)))
    assert len(facts) == len(everything(corpora[language]))


@each_language
def test_every_marked_word_repeats_a_fact_that_an_n_gram_does_not_see(language, corpora):
    """Between a word and the last mention of what decides it lie at least seven characters."""
    grammar = GRAMMARS[language]
    for story in everything(corpora[language]):
        assert [kind for kind, _, _ in story.slots()].count("pronoun") == 2
        for kind, start, end in story.slots():
            word, before = story.text[start:end], story.text[:start]
            decides = [word]
            if kind == "pronoun":
                decides = grammar.WOMEN if word in ("She", "그녀") else grammar.MEN
            last = max(before.rfind(w) + len(w) for w in decides if w in before)
            assert start - last >= 7, (story.text, word)


@each_language
def test_pronouns_fit_the_last_person_named(language, corpora):
    grammar = GRAMMARS[language]
    for story in everything(corpora[language]):
        for kind, start, end in story.slots():
            if kind == "pronoun":
                before = story.text[:start]
                name = max(grammar.WOMEN + grammar.MEN, key=before.rfind)
                assert (story.text[start:end] in ("She", "그녀")) == (name in grammar.WOMEN)


def test_owner_and_guest_are_told_apart_by_the_sentence(corpora):
    for story in everything(corpora["en"]):
        first, second = (story.text[start:end] for kind, start, end in story.slots() if kind == "who")
        owner = story.text.split()[0]
        gives = re.search(r"\b(lends|sells)\b", story.text) is not None
        assert (first == owner) == gives and owner in (first, second) and first != second


def test_korean_particles_fit_the_sound_before_them(corpora):
    """Every noun's last syllable, spelled out into its parts by Unicode, decides."""
    import unicodedata

    nouns = [*korean.WOMEN, *korean.MEN, *korean.PLACES, *korean.THINGS]
    pattern = re.compile(f"({'|'.join(sorted(nouns, key=len, reverse=True))})(은|는|이|가|을|를|으로|로)(?= )")
    seen = set()
    for story in everything(corpora["ko"]):
        for noun, particle in pattern.findall(story.text):
            parts = unicodedata.normalize("NFD", noun[-1])
            closed, rieul = len(parts) == 3, parts.endswith("\u11af")
            expected = closed and not rieul if particle in ("으로", "로") else closed
            assert (particle in ("은", "이", "을", "으로")) == expected, (noun, particle)
            seen.add(particle)
    assert seen == {"은", "는", "이", "가", "을", "를", "으로", "로"}
    assert sum("서울로 " in story.text for story in everything(corpora["ko"])) > 0  # ㄹ takes 로


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("연", "와과"), "은는, 이가, 을를 or 으로로; got '와과'"),
        (("kite", "이가"), "end with a Korean syllable; got 'kite'"),
    ],
)
def test_a_particle_without_a_rule_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        korean.particle(*arguments)


@each_language
def test_arrays_say_what_comes_next(language, corpora):
    corpus = corpora[language]
    data, story = corpus.arrays("test"), corpus.splits["test"][3]
    length = max(len(s.text) for s in everything(corpus)) + 1
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {
        "tokens": ((SIZES[language]["test"], length), "int32"),
        "target": ((SIZES[language]["test"], length), "int32"),
        "weight": ((SIZES[language]["test"], length), "float32"),
        "kind": ((SIZES[language]["test"], length), "int32"),
    }
    assert data["tokens"][3, 0] == 0 and (data["tokens"][3, 1:] == data["target"][3, :-1]).all()
    assert corpus.decode(data["target"][3]) == story.text and data["weight"][3].sum() == len(story.text) + 1
    words = [kind for kind, start, end in story.slots() for _ in range(start, end)]
    assert [datasets.KINDS[k] for k in data["kind"][3] if k] == words
    assert corpus.arrays("test", length + 9)["tokens"].shape[1] == length + 9


def test_bad_arguments_are_named(corpora):
    with pytest.raises(ValueError, match="'en', 'ko'; got 'de'"):
        datasets.stories("de")
    with pytest.raises(ValueError, match="train, validation, test; got 'dev'"):
        corpora["en"].arrays("dev")
    with pytest.raises(ValueError, match="length must be at least 118; got 100"):
        corpora["en"].arrays("test", 100)
    with pytest.raises(ValueError, match="characters of the alphabet; got '7x'"):
        corpora["en"].encode("x7 Omar")


@pytest.mark.parametrize("text", ["a [b", "a b]", "a [b> c", "[a [b]]"])
def test_wrong_marks_are_refused(text):
    with pytest.raises(ValueError, match="marks must open and close in turn"):
        datasets.read_marked(text)
    with pytest.raises(ValueError, match="file: line 2 cannot be read"):
        files.from_text(f"# train\n{text}\n", "file")


def test_a_story_before_the_first_split_is_named():
    with pytest.raises(ValueError, match="line 1 cannot be read: no split"):
        files.from_text("Omar is here.\n")


@each_language
def test_the_card_states_checksums_and_sizes(language, corpora):
    text = (DATA / "stories.md").read_text(encoding="utf-8")
    corpus = corpora[language]
    lengths = [len(story.text) for story in everything(corpus)]
    marked = sum(sum(k > 0 for k in story.kinds) for story in everything(corpus))
    row = [len(lengths), f"{np.mean(lengths):.1f}", f"{min(lengths)}–{max(lengths)}", len(corpus.alphabet) - 1]
    row.append(f"{100 * marked / sum(lengths):.1f} %")
    assert f"| {language} | " + " | ".join(map(str, row)) + " |" in text
    assert f"`stories_{language}.txt` | `{files.CHECKSUMS[language]}`" in text


@each_language
def test_the_card_states_what_n_grams_reach(language, corpora):
    text = (DATA / "stories.md").read_text(encoding="utf-8")
    corpus = corpora[language]
    train, validation, test = (corpus.arrays(name) for name in ("train", "validation", "test"))
    models = tune_kneser_ney(train, validation, len(corpus.alphabet))
    stated = re.findall(rf"^\| {language} \| (\d) \| ([\d.]+) \| ([\d.]+) \|$", text, re.M)
    assert [int(order) for order, _, _ in stated] == list(range(1, 9))
    for order, overall, far in stated:
        bits = models[int(order)][0].bits(test["tokens"], test["target"])
        assert float(overall) == pytest.approx(bits[test["weight"] > 0].mean(), abs=0.006)
        assert float(far) == pytest.approx(bits[test["kind"] > 0].mean(), abs=0.006)


TOPICS = {"b": "One two three.\n\nfour five six\n   seven\n\n****", "a": "One two three.\n\n  Eight, nine ten."}


def test_paragraphs_of_help_topics_become_lines():
    lines = ["One two three.", "Eight, nine ten.", "One two three.", "four five six seven"]
    assert datasets.pydoc_paragraphs(TOPICS) == lines


def test_no_paragraph_of_the_help_topics_is_in_two_splits():
    alphabet, splits = datasets.pydoc_text(length=64)
    lines = {}
    for name, data in splits.items():
        assert data["tokens"].shape == data["target"].shape == data["weight"].shape
        text = "".join(alphabet[i] for i in data["tokens"].reshape(-1))
        assert [alphabet.index(c) for c in text[1:]] == data["target"].reshape(-1)[:-1].tolist()
        lines[name] = [line for line in text.split("\n")[1:-1]]
    assert len(lines["train"]) > 1000 and not set(lines["train"]) & set(lines["test"] + lines["validation"])
    assert len(set(lines["train"])) == len(lines["train"])
    _, leaky = datasets.pydoc_text(length=64, distinct=False)
    leaky = {n: "".join(alphabet[i] for i in d["tokens"].reshape(-1)).split("\n") for n, d in leaky.items()}
    assert len(set(leaky["train"]) & set(leaky["test"])) > 20


def test_a_length_that_does_not_fit_the_topics_is_named():
    with pytest.raises(ValueError, match="length must be between 1 and .*; got 5000"):
        datasets.pydoc_text(length=5000, topics=TOPICS)


def test_other_data_than_ours_is_named_for_the_status_table(tmp_path, monkeypatch):
    monkeypatch.setenv("ABH_PATH_FILE", str(tmp_path / "path"))
    datasets.pydoc_paragraphs()
    assert (tmp_path / "path").read_text() == "pydoc_data.topics\n"


def test_the_grammar_knows_its_own_stories(corpora):
    assert all(datasets.is_story(story.text) for story in everything(corpora["en"]))
    assert not any(datasets.is_story(story.text) for story in corpora["ko"].splits["test"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("in Oslo.", "in Lima."),
        ("{He}", "She"),
        ("(ball)", "lamp"),
        ("[Ruth]", "Hana"),
        ("Soon", "Then"),
        ("found", "ate"),
    ],
)
def test_a_story_with_one_wrong_word_is_none(old, new):
    """Wherever the word stands first or last: the fact or what repeats it."""
    plain = lambda text: re.sub(r"[][<>(){}]", "", text)  # noqa: E731
    marked = "Omar lives in Oslo. {He} found a ball. Today Ruth comes by. {She} likes the (ball). "
    marked += "Soon [Omar] sells it to [Ruth] in <Oslo>."
    assert datasets.is_story(plain(marked)) and old in marked
    assert not datasets.is_story(plain(marked.replace(old, new, 1)))


def test_a_story_of_one_person_is_none():
    text = (
        "Omar lives in Oslo. He has a ball. Today Omar comes by. He likes the ball. So Omar lends it to Omar in Oslo."
    )
    assert not datasets.is_story(text)


def test_an_exchanged_place_is_told_nowhere_else(corpora):
    told = corpora["en"].splits["test"]
    stay, follow = datasets.exchange_places(told), datasets.exchange_places(told, follow=True)
    for story, left, moved in zip(told, stay, follow, strict=True):
        ((_, start, end),) = [slot for slot in story.slots() if slot[0] == "where"]
        old, new = story.text[start:end], moved.text[start:end]
        assert old != new and left.text[start:end] == old and left.text.count(new) == 1 and left.text.count(old) == 1
        assert moved.text == story.text.replace(old, new) and datasets.is_story(moved.text)
        assert not datasets.is_story(left.text) and left.kinds == story.kinds
    assert corpora["en"].arrays(stay)["tokens"].shape == corpora["en"].arrays("test")["tokens"].shape
