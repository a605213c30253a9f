"""The grammar of the translation data, checked on every sentence by rules written apart from the generator."""

import re
import unicodedata

import pytest

from attention_by_hand.datasets import sentence_text, translation

FUNCTION = set("I you he she we they am is are was will not the a an in on .".split())
ADJECTIVES = set(
    "expensive important hot cold tired famous big small old new young red white black green "
    "Korean French Spanish European Asian African Economic Monetary Political".split()
)
BEFORE_THE_NOUN = {"es": set(), "fr": set("big small old new young".split()), "ko": ADJECTIVES}
FEMININE = {
    "es": set("girl woman water soup milk apple house letter kitchen street school declaration".split())
    | set("Area Union Community".split()),
    "fr": set("girl woman water soup apple car house letter kitchen street school declaration".split())
    | set("Area Union Community".split()),
}
VOWELS = "aeiouéêh"


def lemma(noun):
    return {"men": "man", "women": "woman"}.get(noun, noun.removesuffix("s") if noun != "Spanish" else noun)


def phrases(source):
    """(positions of the adjectives, position of the noun) wherever adjectives stand before a noun."""
    adjectives = []
    for i, word in enumerate(source):
        if word in ADJECTIVES:
            adjectives.append(i)
        else:
            if adjectives:
                yield adjectives, i
            adjectives = []


@pytest.fixture(scope="module")
def corpora():
    return {language: translation(language) for language in ("es", "fr", "ko")}


@pytest.fixture(params=["es", "fr", "ko"])
def language(request):
    return request.param


@pytest.fixture
def pairs(corpora, language):
    corpus = corpora[language]
    return [*corpus.examples, *(pair for split in corpus.splits.values() for pair in split)]


def test_links_are_within_the_sentences_and_sure_ones_are_possible(pairs):
    for pair in pairs:
        assert pair.sure <= pair.possible
        assert all(0 <= t < len(pair.target) and 0 <= s < len(pair.source) for t, s in pair.possible)


def test_every_word_with_a_meaning_has_exactly_one_sure_link_and_no_other_word_has_any(pairs):
    for pair in pairs:
        meaning = [s for s, word in enumerate(pair.source) if word not in FUNCTION]
        linked = sorted(s for _, s in pair.sure)
        extra = linked if len({t for t, _ in pair.sure}) < len(linked) else []
        assert linked == meaning and not extra, pair


def test_every_target_word_but_the_full_stop_has_a_possible_link(pairs):
    for pair in pairs:
        linked = {t for t, _ in pair.possible}
        assert linked == {t for t, word in enumerate(pair.target) if word != "."}, pair


def test_the_full_stop_is_last_on_both_sides_or_on_none(pairs):
    for pair in pairs:
        assert [w == "." for w in pair.source[-1:]] == [w == "." for w in pair.target[-1:]]
        assert "." not in pair.source[:-1] + pair.target[:-1]


def test_adjectives_stand_where_the_language_puts_them(pairs, language):
    for pair in pairs:
        to = {s: t for t, s in pair.sure}
        for adjectives, noun in phrases(pair.source):
            before = [a for a in adjectives if pair.source[a] in BEFORE_THE_NOUN[language]]
            after = [a for a in adjectives if a not in before][::-1]
            places = [to[i] for i in (*before, noun, *after)]
            assert places == list(range(places[0], places[0] + len(places))), pair


def test_the_famous_sentences_are_what_they_should_be(corpora):
    shown = {
        name: [(sentence_text(p.source), sentence_text(p.target)) for p in c.examples] for name, c in corpora.items()
    }
    bread, area = "we are eating bread", "The agreement on the European Economic Area was signed in August 1992."
    assert shown["es"][0] == (bread, "estamos comiendo pan")
    assert shown["fr"] == [
        (bread, "nous mangeons du pain"),
        (area, "L'accord sur la zone économique européenne a été signé en août 1992."),
    ]
    assert shown["es"][1][1] == "El acuerdo sobre la zona económica europea fue firmado en agosto de 1992."
    assert [target for _, target in shown["ko"]] == [
        "우리는 빵을 먹고 있다",
        "유럽 경제 지역에 관한 협정은 1992년 8월에 체결되었다.",
    ]
    assert corpora["es"].examples[0].possible == {(0, 0), (0, 1), (1, 2), (2, 3)}
    assert corpora["es"].examples[0].sure == {(1, 2), (2, 3)}
    crossing = {(4, 6), (5, 5), (6, 4)}  # zone, économique, européenne
    assert crossing <= corpora["fr"].examples[1].sure


def test_the_family_of_the_famous_sentence_is_in_training_with_others(corpora):
    family = [p for p in corpora["fr"].splits["train"] if " ".join(p.source[4:7]) == "European Economic Area"]
    assert len({p.source[1] for p in family}) == 4 and len({p.source[-2] for p in family}) == 5
    assert any(p.source[1] == "agreement" for p in family)


def test_english_articles_verbs_and_times_fit(corpora):
    for split in corpora["es"].splits.values():
        for pair in split:
            text = " ".join(pair.source)
            assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", text), text
            assert "tomorrow" not in text or " will " in text, text
            assert "now" not in pair.source or " will " not in text, text
            subject = re.search(r"(\S+) (am|is|are|was|will)\b", text)
            plural = subject[1] in ("you", "we", "they", "men", "women") or subject[1].endswith("s")
            expected = {"I": "am"}.get(subject[1], "are" if plural else "is")
            assert subject[2] in ("will", "was", expected), text


@pytest.mark.parametrize("tongue", ["es", "fr"])
def test_articles_and_adjectives_agree_with_the_noun(corpora, tongue):
    singular = {"es": ({"el", "un"}, {"la", "una"}), "fr": ({"le", "un", "du", "l'"}, {"la", "une", "l'"})}[tongue]
    for split in corpora[tongue].splits.values():
        for pair in split:
            to = {s: t for t, s in pair.sure}
            for s, t in to.items():
                noun = lemma(pair.source[s])
                plural = noun != pair.source[s]
                feminine = noun in FEMININE[tongue]
                places = [t for t, source in pair.possible if pair.source[source] in ("the", "a", "an")]
                if t - 1 in places and pair.source[s] not in ADJECTIVES:
                    article = pair.target[t - 1]
                    allowed = {"los", "las", "les"} if plural else singular[feminine] | {"de", "d'"}
                    allowed |= {"el"} if noun == "water" else set()
                    assert article in allowed, pair


@pytest.mark.parametrize("tongue", ["es", "fr"])
def test_an_adjective_has_one_form_for_each_gender_and_number(corpora, tongue):
    forms = {}
    for split in corpora[tongue].splits.values():
        for pair in split:
            to = {s: t for t, s in pair.sure}
            for adjectives, s in phrases(pair.source):
                noun = lemma(pair.source[s])
                gender = "f" if noun in FEMININE[tongue] else "vowel" if (tongue, noun) == ("fr", "hotel") else "m"
                for a in adjectives:
                    asked = pair.source[a], gender, noun != pair.source[s]
                    forms.setdefault(asked, set()).add(pair.target[to[a]])
    assert all(len(words) == 1 for words in forms.values()), forms
    found = {asked: words.pop() for asked, words in forms.items()}
    assert all(word[-1] in "sx" for (_, _, plural), word in found.items() if plural)
    if tongue == "fr":
        assert all(word.endswith(("e", "es")) for (_, gender, _), word in found.items() if gender == "f")
        assert not any(
            word.endswith(("lle", "che", "nde", "ère", "ne", "te"))
            for (_, g, _), word in found.items()
            if g != "f" and word != "jeune"
        )
        assert (found["old", "vowel", False], found["new", "vowel", False]) == ("vieil", "nouvel")
    expected = {
        "es": {("young", "m", True): "jóvenes", ("French", "f", False): "francesa", ("green", "f", True): "verdes"},
        "fr": {("new", "m", True): "nouveaux", ("old", "m", True): "vieux", ("white", "f", False): "blanche"},
    }
    assert expected[tongue].items() <= found.items()


def test_spanish_adjectives_with_four_forms_end_as_the_noun_asks(corpora):
    ends = {(False, False): "o", (True, False): "a", (False, True): "os", (True, True): "as"}
    four = ADJECTIVES - set("big important hot green young French Spanish".split())
    seen = set()
    for split in corpora["es"].splits.values():
        for pair in split:
            to = {s: t for t, s in pair.sure}
            for adjectives, s in phrases(pair.source):
                noun = lemma(pair.source[s])
                for a in (a for a in adjectives if pair.source[a] in four):
                    end = ends[noun in FEMININE["es"], noun != pair.source[s]]
                    assert pair.target[to[a]].endswith(end), pair
                    seen.add(end)
    assert seen == set(ends.values())


def test_french_participles_agree_with_what_was_done(corpora):
    for pair in corpora["fr"].splits["train"]:
        if pair.source[-1] == ".":
            participle = pair.target[pair.target.index("été") + 1]
            assert participle.endswith("ée") == ("declaration" in pair.source)


def test_french_elides_before_every_vowel_and_nowhere_else(corpora):
    elided = set()
    for split in corpora["fr"].splits.values():
        for pair in split:
            for word, following in zip(pair.target, pair.target[1:], strict=False):
                vowel = following[0] in VOWELS
                assert not (vowel and word in ("le", "la", "je", "ne", "de")), pair
                assert vowel or not word.endswith("'"), pair
                assert not (word == "de" and following in ("le", "les")), pair
                assert not (vowel and word in ("vieux", "nouveau") and following in ("hôtel",)), pair
                if word.endswith("'"):
                    elided.add(word)
    assert elided == {"l'", "j'", "n'", "d'"}


def test_french_negation_has_two_parts_around_the_verb_and_takes_de(corpora):
    seen = 0
    for split in corpora["fr"].splits.values():
        for pair in split:
            negated = "not" in pair.source
            places = [i for i, word in enumerate(pair.target) if word in ("ne", "n'")]
            assert len(places) == pair.target.count("pas") == negated, pair
            if negated:
                seen += 1
                assert pair.target[places[0] + 2] == "pas", pair
                both = {t for t, s in pair.possible if pair.source[s] == "not"}
                assert both == {places[0], places[0] + 2}
                assert pair.target[places[0] + 3] not in ("un", "une", "du", "des"), pair
    assert seen > 1000


def test_spanish_leaves_out_the_pronouns_that_the_verb_tells(corpora):
    ends = {"I": "(oy|é)", "you": "(ás)", "we": "mos"}
    for pair in corpora["es"].splits["train"]:
        for s, word in enumerate(pair.source):
            if word in ends:
                (t,) = [t for t, source in pair.possible if source == s]
                assert re.search(ends[word] + "$", pair.target[t]), pair
            if word in ("he", "she", "they"):
                assert {"he": "él", "she": "ella", "they": "ellos"}[word] in pair.target


def test_korean_particles_follow_the_final_consonant(corpora):
    seen = set()
    for split in corpora["ko"].splits.values():
        for pair in split:
            nouns = [t for t, s in pair.sure if pair.source[s] not in ADJECTIVES]
            nouns += [t for t, s in pair.possible if pair.source[s] in ("I", "you", "he", "she", "we", "they")]
            for t in nouns:
                word = pair.target[t]
                if len(word) > 1 and word[-1] in "은는이가을를" and word != "학교":
                    letters = unicodedata.normalize("NFD", word[-2])  # three when there is a final consonant
                    if not (word in ("먹을", "읽을", "채택을") or t > len(pair.target) - 3):  # endings of the verb
                        assert (word[-1] in "은이을") == (len(letters) == 3), (word, pair)
                        seen.add(word[-1])
    assert seen == set("은는이가을를")


def test_korean_ends_with_the_verb_in_the_plain_style(corpora):
    for split in corpora["ko"].splits.values():
        for pair in split:
            words = [word for word in pair.target if word != "."]
            assert words[-1].endswith("다"), pair
            if pair.source[-1] != ".":
                verb = next(
                    t
                    for t, s in pair.sure
                    if re.search("ing$", pair.source[s])
                    or pair.source[s - 1] == "will"
                    or pair.source[s - 2 : s] == ("will", "not")
                )
                assert verb == len(words) - (3 if "not" in pair.source else 2), pair
