"""The one right caption of a scene, word by word, in English and Korean, and what each word names."""

from attention_by_hand.datasets.scenes.grounds import GROUNDS
from attention_by_hand.datasets.scenes.shapes import SHAPES

COLOURS = ("red", "blue", "yellow", "black")
RELATIONS = ("above", "left of")
LANGUAGES = ("en", "ko")
REFERS = ("first object", "second object", "relation", "ground", "function word")  # what a word names; −1 is padding
_FIRST, _SECOND, _RELATION, _GROUND, _FUNCTION = range(5)

KOREAN = {
    **dict(zip(COLOURS, ("빨간", "파란", "노란", "검은"), strict=True)),
    **dict(zip(SHAPES, ("동그라미", "네모", "세모", "별", "하트", "달"), strict=True)),
    **dict(zip(RELATIONS, ("위에", "왼쪽에"), strict=True)),
    **dict(zip(GROUNDS, ("모래밭", "잔디밭", "눈밭", "바다"), strict=True)),
}


def as_subject(noun):
    """A Korean noun with the particle of the subject: 이 after a final consonant, 가 after a vowel."""
    has_final = (ord(noun[-1]) - ord("가")) % 28 != 0  # syllables are listed with their 28 endings, none first
    return noun + ("이" if has_final else "가")


def caption(objects, relation, ground, language):
    """Words of a scene's caption and what each of them names.

        en  a red square above a blue star on grass
        ko  빨간 네모가 파란 별 위에 있는 잔디밭     (grass where a red square is above a blue star)

    Args:
        objects: two pairs (colour, shape) of English words, the upper or left object first.
        relation, ground: English words.
        language: `"en"` or `"ko"`.

    Returns:
        `(words, refers)`: a tuple of words, and a tuple of as many indices into `REFERS`.
    """
    (colour, shape), second = objects
    if language == "ko":
        first = [KOREAN[colour], as_subject(KOREAN[shape])]
        return labelled(first, [KOREAN[word] for word in second], [KOREAN[relation]], KOREAN[ground])
    return labelled(objects[0], second, relation.split(), ground, articles=("a", "a"))


def labelled(first, second, relation, ground, articles=None):
    """Words in the order of English, with `articles`, or of Korean, without; and what each word names.

    Args:
        first, second: the words of both objects.
        relation: its words; only the first says something.
        ground: its word.
        articles: both English articles, or None for Korean.

    Returns:
        `(words, refers)` as `caption`.
    """
    first, second = ([(word, part) for word in words] for words, part in ((first, _FIRST), (second, _SECOND)))
    relation = [(relation[0], _RELATION), *((word, _FUNCTION) for word in relation[1:])]
    if articles is None:
        pairs = [*first, *second, *relation, ("있는", _FUNCTION), (ground, _GROUND)]
    else:
        a, b = ((article, _FUNCTION) for article in articles)
        pairs = [a, *first, *relation, b, *second, ("on", _FUNCTION), (ground, _GROUND)]
    return tuple(zip(*pairs, strict=True))


def scene_words(language="en"):
    """All words that captions of a language can have, in a fixed order.

    Args:
        language: `"en"` (19 words) or `"ko"` (23 words).

    Returns:
        Tuple of words.

    Raises:
        ValueError: an unknown `language`.
    """
    check_language(language)
    if language == "en":
        return ("a", *COLOURS, *SHAPES, "above", "left", "of", "on", *GROUNDS)
    names = [KOREAN[word] for word in SHAPES]
    colours, relations, grounds = ([KOREAN[word] for word in part] for part in (COLOURS, RELATIONS, GROUNDS))
    return (*colours, *(as_subject(name) for name in names), *names, *relations, "있는", *grounds)


def check_language(language):
    """Refuse a language that captions do not have."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}; got {language!r}")
