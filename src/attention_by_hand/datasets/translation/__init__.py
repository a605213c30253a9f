"""English to Spanish, French and Korean by our own grammar: every target word knows where it comes from."""

from importlib import import_module
from pathlib import Path

from attention_by_hand.datasets.translation import files
from attention_by_hand.datasets.translation.corpus import Corpus, Pair, Vocabulary, is_punctuation, sentence_text
from attention_by_hand.datasets.translation.english import english
from attention_by_hand.datasets.translation.plans import EXAMPLES
from attention_by_hand.datasets.translation.splits import SIZES, splits

LANGUAGES = {"es": "spanish", "fr": "french", "ko": "korean"}
__all__ = ["LANGUAGES", "Corpus", "Pair", "Vocabulary", "is_punctuation", "sentence_text", "translation"]


def translation(language, seed=0, folder=None):
    """English sentences with translations and gold links between the words, in five splits.

    A target word is linked to the source words that it translates (`possible`); if it has a meaning of its own,
    one of them is the word with that meaning (`sure`). Articles, pronouns, auxiliaries, prepositions and *not*
    have no sure links, punctuation has none at all.

    Seed 0 is read from `translation_es.tsv` (`…_fr`, `…_ko`) in the folder `data` of a clone. Where that file is
    missing, as with the installed package alone, and for other seeds, the same text is made on the fly.

    Args:
        language: `"es"`, `"fr"` or `"ko"`.
        seed: integer seed; the English sentences depend on it alone, and are the same for the three languages.
        folder: where to look for the file, when not in the clone.

    Returns:
        A `Corpus` with `splits` `"train"` (8000 pairs), `"validation"`, `"random"`, `"pairs"` (combinations of
        adjective and noun that training does not have) and `"long"` (longer than any sentence of the others), 512
        each. No sentence occurs twice. `examples` holds two famous sentences.

    Raises:
        ValueError: another language; or the file is there and is not what it should be (then delete it).
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(map(repr, LANGUAGES))}; got {language!r}")
    path = Path(folder or files.FOLDER) / f"translation_{language}.tsv"
    found = files.read(path, files.CHECKSUMS[language]) if seed == 0 else None
    return corpus(language, found or generate(language, seed), examples(language))


def generate(language, seed=0, sizes=SIZES):
    """Pairs by split, made by the grammar: what `translation` reads or, without the file, returns."""
    say = _grammar(language)
    return {name: [say(*one) for one in plans] for name, plans in splits(seed, sizes).items()}


def examples(language):
    """The two famous sentences as pairs: *we are eating bread*, and the one on the European Economic Area."""
    return tuple(_grammar(language)(plan, *english(plan)) for plan in EXAMPLES)


def corpus(language, pairs_by_split, shown=()):
    """A `Corpus` whose vocabularies come from the training pairs."""
    sides = zip(*((pair.source, pair.target) for pair in pairs_by_split["train"]), strict=True)
    source, target = (Vocabulary(word for words in side for word in words) for side in sides)
    return Corpus(f"en-{language}", source, target, pairs_by_split, shown)


def _grammar(language):
    name = LANGUAGES[language]
    return getattr(import_module(f"{__name__}.{name}"), name)
