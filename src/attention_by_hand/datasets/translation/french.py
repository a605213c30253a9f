"""English to French: agreement, adjectives on both sides of the noun, ne … pas, du and de, elision.

An elided word is a word of its own that keeps its apostrophe: `l' accord`, `j' achète`, `n' a pas`, `d' eau`.
"""

from attention_by_hand.datasets.translation.corpus import Draft
from attention_by_hand.datasets.translation.plans import Phrase, Report

_NOUNS = {  # English → gender, singular, plural
    "teacher": "m professeur professeurs",
    "doctor": "m médecin médecins",
    "girl": "f fille filles",
    "boy": "m garçon garçons",
    "woman": "f femme femmes",
    "man": "m homme hommes",
    "student": "m étudiant étudiants",
    "bread": "m pain pains",
    "cheese": "m fromage fromages",
    "water": "f eau eaux",
    "coffee": "m café cafés",
    "soup": "f soupe soupes",
    "milk": "m lait laits",
    "apple": "f pomme pommes",
    "hat": "m chapeau chapeaux",
    "book": "m livre livres",
    "car": "f voiture voitures",
    "house": "f maison maisons",
    "letter": "f lettre lettres",
    "garden": "m jardin jardins",
    "kitchen": "f cuisine cuisines",
    "park": "m parc parcs",
    "street": "f rue rues",
    "school": "f école écoles",
    "hotel": "m hôtel hôtels",
    "agreement": "m accord accords",
    "treaty": "m traité traités",
    "report": "m rapport rapports",
    "declaration": "f déclaration déclarations",
    "Area": "f zone zones",
    "Union": "f union unions",
    "Community": "f communauté communautés",
    "Council": "m conseil conseils",
}
_ADJECTIVES = {  # English → masculine, feminine, masculine plural, feminine plural; two forms: singular, plural
    "big": "grand grande grands grandes",
    "small": "petit petite petits petites",
    "old": "vieux vieille vieux vieilles",
    "new": "nouveau nouvelle nouveaux nouvelles",
    "young": "jeune jeunes",
    "expensive": "cher chère chers chères",
    "important": "important importante importants importantes",
    "hot": "chaud chaude chauds chaudes",
    "cold": "froid froide froids froides",
    "tired": "fatigué fatiguée fatigués fatiguées",
    "famous": "célèbre célèbres",
    "red": "rouge rouges",
    "white": "blanc blanche blancs blanches",
    "black": "noir noire noirs noires",
    "green": "vert verte verts vertes",
    "Korean": "coréen coréenne coréens coréennes",
    "French": "français française français françaises",
    "Spanish": "espagnol espagnole espagnols espagnoles",
    "European": "européen européenne européens européennes",
    "Asian": "asiatique asiatiques",
    "African": "africain africaine africains africaines",
    "Economic": "économique économiques",
    "Monetary": "monétaire monétaires",
    "Political": "politique politiques",
    "signed": "signé signée signés signées",
    "published": "publié publiée publiés publiées",
    "adopted": "adopté adoptée adoptés adoptées",
}
_BEFORE = ("big", "small", "old", "new", "young")  # these stand before the noun
_BEFORE_VOWEL = {"vieux": "vieil", "nouveau": "nouvel"}
_VERBS = {  # English → present of je, tu, il, nous, ils, and the stem of the future
    "eat": "mange manges mange mangeons mangent manger",
    "drink": "bois bois boit buvons boivent boir",
    "buy": "achète achètes achète achetons achètent achèter",
    "sell": "vends vends vend vendons vendent vendr",
    "read": "lis lis lit lisons lisent lir",
    "write": "écris écris écrit écrivons écrivent écrir",
    "draw": "dessine dessines dessine dessinons dessinent dessiner",
}
_TIMES = {"now": "maintenant", "today": "aujourd'hui", "tomorrow": "demain"}
_MONTHS = dict(March="mars", May="mai", June="juin", August="août", October="octobre")
_PRONOUNS = dict(I="je", you="tu", he="il", she="elle", we="nous", they="ils")
_PERSONS = {"I": 0, "you": 1, "he": 2, "she": 2, "we": 3, "they": 4}
_FUTURE = "ai as a ons ont".split()
_ARTICLES = {"the": "le la les les", "a": "un une des des"}
_ELIDED = {"le": "l'", "la": "l'", "je": "j'", "ne": "n'", "de": "d'"}
_VOWELS = tuple("aâàeéèêiîoôuûh")  # every h of this lexicon is silent: homme, hôtel


def french(plan, source, at):
    """The French pair of a plan, given its English words and where its roles stand."""
    draft = Draft(at)
    (_report if isinstance(plan, Report) else _everyday)(plan, draft)
    for i, following in enumerate(draft.words[1:]):
        if following.startswith(_VOWELS):
            draft.words[i] = _ELIDED.get(draft.words[i], draft.words[i])
    return draft.pair(source)


def gender(noun):
    """Gender of the French for an English noun, "m" or "f", with a hyphen if it elides the word before it."""
    gender, singular, _ = _NOUNS[noun].split()
    return gender + ("-" if singular.startswith(_VOWELS) else "")


def _add_phrase(draft, phrase, role, negated=False):
    """Add article, adjectives and noun; most adjectives follow, the nearest one first. `negated`: pas de pain."""
    _, *numbers = _NOUNS[phrase.noun].split()
    noun = numbers[phrase.plural]
    form = ("m", "f").index(gender(phrase.noun)[0]) + 2 * phrase.plural
    before = [word for word in phrase.adjectives if word in _BEFORE]
    _add_article(draft, phrase, role, form, bool(before), negated)
    for adjective in before:
        word = _agreeing(adjective, form)
        vowel = noun.startswith(_VOWELS) and form == 0
        draft.content(_BEFORE_VOWEL.get(word, word) if vowel else word, f"{role} {adjective}")
    draft.content(noun, role)
    for adjective in reversed([word for word in phrase.adjectives if word not in _BEFORE]):
        draft.content(_agreeing(adjective, form), f"{role} {adjective}")


def _add_article(draft, phrase, role, form, before, negated):
    places = (f"{role} article",) if phrase.article else (role,)  # du pain comes from bread alone
    if phrase.article != "the" and negated:
        draft.function("de", *places)
    elif phrase.article:
        draft.function(_ARTICLES[phrase.article].split()[form], *places)
    elif phrase.plural:
        draft.function("de" if before else "des", *places)  # des pommes, but de petites pommes
    elif gender(phrase.noun) == "m":
        draft.function("du", *places)
    else:
        draft.function("de", *places)
        draft.function(_ARTICLES["the"].split()[form], *places)


def _agreeing(adjective, form):
    forms = _ADJECTIVES[adjective].split()
    return forms[form] if len(forms) == 4 else forms[form // 2]


def _everyday(plan, draft):
    person = 2 if isinstance(plan.subject, Phrase) else _PERSONS[plan.subject]
    person = 4 if isinstance(plan.subject, Phrase) and plan.subject.plural else person
    if plan.time:
        draft.content(_TIMES[plan.time], "time")
    if isinstance(plan.subject, Phrase):
        _add_phrase(draft, plan.subject, "subject")
    else:
        draft.function(_PRONOUNS[plan.subject], "subject")
    *present, stem = _VERBS[plan.verb].split()
    if plan.negated:
        draft.function("ne", "not")
    draft.content(stem + _FUTURE[person] if plan.future else present[person], "verb", "be")
    if plan.negated:
        draft.function("pas", "not")
    _add_phrase(draft, plan.object, "object", plan.negated)
    if plan.place:
        draft.function("dans", "in")
        _add_phrase(draft, plan.place, "place")


def _report(plan, draft):
    _add_phrase(draft, plan.head, "head")
    draft.function("sur", "on")
    _add_phrase(draft, plan.topic, "topic")
    if plan.negated:
        draft.function("ne", "not")
    draft.function("a", "be")
    if plan.negated:
        draft.function("pas", "not")
    draft.function("été", "be")
    draft.content(_agreeing(plan.verb, ("m", "f").index(gender(plan.head.noun)[0])), "verb")
    draft.function("en", "in")
    draft.content(_MONTHS[plan.month], "month")
    draft.content(plan.year, "year")
    draft.function(".")
