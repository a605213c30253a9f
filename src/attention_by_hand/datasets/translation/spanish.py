"""English to Spanish: adjectives after the noun and agreeing, the pronoun inside the verb, estar + gerund."""

from attention_by_hand.datasets.translation.corpus import Draft
from attention_by_hand.datasets.translation.plans import Phrase, Report

_NOUNS = {  # English → gender, singular, plural
    "teacher": "m profesor profesores",
    "doctor": "m médico médicos",
    "girl": "f niña niñas",
    "boy": "m niño niños",
    "woman": "f mujer mujeres",
    "man": "m hombre hombres",
    "student": "m estudiante estudiantes",
    "bread": "m pan panes",
    "cheese": "m queso quesos",
    "water": "f agua aguas",
    "coffee": "m café cafés",
    "soup": "f sopa sopas",
    "milk": "f leche leches",
    "apple": "f manzana manzanas",
    "hat": "m sombrero sombreros",
    "book": "m libro libros",
    "car": "m coche coches",
    "house": "f casa casas",
    "letter": "f carta cartas",
    "cup": "f taza tazas",
    "garden": "m jardín jardines",
    "kitchen": "f cocina cocinas",
    "park": "m parque parques",
    "street": "f calle calles",
    "school": "f escuela escuelas",
    "hotel": "m hotel hoteles",
    "agreement": "m acuerdo acuerdos",
    "treaty": "m tratado tratados",
    "report": "m informe informes",
    "declaration": "f declaración declaraciones",
    "Area": "f zona zonas",
    "Union": "f unión uniones",
    "Community": "f comunidad comunidades",
    "Council": "m consejo consejos",
    "table": "f mesa mesas",  # from here on: the shopping list of datasets.shopping
    "chair": "f silla sillas",
    "lamp": "f lámpara lámparas",
    "bag": "f bolsa bolsas",
    "bicycle": "f bicicleta bicicletas",
    "clock": "m reloj relojes",
}
_ADJECTIVES = {  # English → masculine, feminine, masculine plural, feminine plural; two forms: singular, plural
    "big": "grande grandes",
    "small": "pequeño pequeña pequeños pequeñas",
    "old": "viejo vieja viejos viejas",
    "new": "nuevo nueva nuevos nuevas",
    "young": "joven jóvenes",
    "expensive": "caro cara caros caras",
    "important": "importante importantes",
    "hot": "caliente calientes",
    "cold": "frío fría fríos frías",
    "tired": "cansado cansada cansados cansadas",
    "famous": "famoso famosa famosos famosas",
    "red": "rojo roja rojos rojas",
    "white": "blanco blanca blancos blancas",
    "black": "negro negra negros negras",
    "green": "verde verdes",
    "Korean": "coreano coreana coreanos coreanas",
    "French": "francés francesa franceses francesas",
    "Spanish": "español española españoles españolas",
    "European": "europeo europea europeos europeas",
    "Asian": "asiático asiática asiáticos asiáticas",
    "African": "africano africana africanos africanas",
    "Economic": "económico económica económicos económicas",
    "Monetary": "monetario monetaria monetarios monetarias",
    "Political": "político política políticos políticas",
    "signed": "firmado firmada firmados firmadas",
    "published": "publicado publicada publicados publicadas",
    "adopted": "adoptado adoptada adoptados adoptadas",
}
_VERBS = {  # English → gerund and the stem of the future
    "eat": "comiendo comer",
    "drink": "bebiendo beber",
    "buy": "comprando comprar",
    "sell": "vendiendo vender",
    "read": "leyendo leer",
    "write": "escribiendo escribir",
    "draw": "dibujando dibujar",
}
_TIMES = {"now": "ahora", "today": "hoy", "tomorrow": "mañana"}
_MONTHS = dict(March="marzo", May="mayo", June="junio", August="agosto", October="octubre")
_PRONOUNS = {"he": "él", "she": "ella", "they": "ellos"}  # the others are told by the verb alone, and left out
_PERSONS = {"I": 0, "you": 1, "he": 2, "she": 2, "we": 3, "they": 4}
_ESTAR = "estoy estás está estamos están".split()
_FUTURE = "é ás á emos án".split()
_ARTICLES = {"the": "el la los las", "a": "un una unos unas"}


def spanish(plan, source, at):
    """The Spanish pair of a plan, given its English words and where its roles stand."""
    draft = Draft(at)
    (_report if isinstance(plan, Report) else _everyday)(plan, draft)
    return draft.pair(source)


def gender(noun):
    """Gender of the Spanish for an English noun: "m" or "f"."""
    return _NOUNS[noun][0]


def add_phrase(draft, phrase, role):
    """Add article, noun and adjectives; the adjectives follow the noun, the nearest one first."""
    _, *numbers = _NOUNS[phrase.noun].split()
    form = ("m", "f").index(gender(phrase.noun)[0]) + 2 * phrase.plural
    if phrase.article:
        stressed = phrase.noun == "water"  # el agua, and yet el agua fría: feminine nouns with a stressed a
        draft.function(_ARTICLES[phrase.article].split()[0 if stressed else form], f"{role} article")
    draft.content(numbers[phrase.plural], role)
    for adjective in reversed(phrase.adjectives):
        draft.content(_agreeing(adjective, form), f"{role} {adjective}")


def _agreeing(adjective, form):
    forms = _ADJECTIVES[adjective].split()
    return forms[form] if len(forms) == 4 else forms[form // 2]


def _everyday(plan, draft):
    person = 2 if isinstance(plan.subject, Phrase) else _PERSONS[plan.subject]
    person = 4 if isinstance(plan.subject, Phrase) and plan.subject.plural else person
    if plan.time:
        draft.content(_TIMES[plan.time], "time")
    dropped = ("subject",) if plan.subject in ("I", "you", "we") else ()
    if isinstance(plan.subject, Phrase):
        add_phrase(draft, plan.subject, "subject")
    elif not dropped:
        draft.function(_PRONOUNS[plan.subject], "subject")
    if plan.negated:
        draft.function("no", "not")
    gerund, stem = _VERBS[plan.verb].split()
    if plan.future:
        draft.content(stem + _FUTURE[person], "verb", "be", *dropped)
    else:
        draft.function(_ESTAR[person], "be", *dropped)
        draft.content(gerund, "verb")
    add_phrase(draft, plan.object, "object")
    if plan.place:
        draft.function("en", "in")
        add_phrase(draft, plan.place, "place")


def _report(plan, draft):
    add_phrase(draft, plan.head, "head")
    draft.function("sobre", "on")
    add_phrase(draft, plan.topic, "topic")
    if plan.negated:
        draft.function("no", "not")
    draft.function("fue", "be")
    draft.content(_agreeing(plan.verb, ("m", "f").index(gender(plan.head.noun)[0])), "verb")
    draft.function("en", "in")
    draft.content(_MONTHS[plan.month], "month")
    draft.function("de", "month", "year")
    draft.content(plan.year, "year")
    draft.function(".")
