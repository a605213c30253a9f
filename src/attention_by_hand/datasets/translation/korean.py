"""English to Korean, in the plain written style (…다): the verb comes last, particles stick to the noun."""

from attention_by_hand.datasets.translation.corpus import Draft
from attention_by_hand.datasets.translation.plans import Phrase, Report

_NOUNS = {
    "teacher": "교사",
    "doctor": "의사",
    "girl": "소녀",
    "boy": "소년",
    "woman": "여자",
    "man": "남자",
    "student": "학생",
    "bread": "빵",
    "cheese": "치즈",
    "water": "물",
    "coffee": "커피",
    "soup": "수프",
    "milk": "우유",
    "apple": "사과",
    "hat": "모자",
    "book": "책",
    "car": "자동차",
    "house": "집",
    "letter": "편지",
    "garden": "정원",
    "kitchen": "부엌",
    "park": "공원",
    "street": "거리",
    "school": "학교",
    "hotel": "호텔",
    "agreement": "협정",
    "treaty": "조약",
    "report": "보고서",
    "declaration": "선언문",
    "Area": "지역",
    "Union": "연합",
    "Community": "공동체",
    "Council": "이사회",
}
_ADJECTIVES = {
    "big": "큰",
    "small": "작은",
    "old": "오래된",
    "new": "새",
    "young": "젊은",
    "expensive": "비싼",
    "important": "중요한",
    "hot": "뜨거운",
    "cold": "차가운",
    "tired": "지친",
    "famous": "유명한",
    "red": "빨간",
    "white": "하얀",
    "black": "검은",
    "green": "초록색",
    "Korean": "한국",
    "French": "프랑스",
    "Spanish": "스페인",
    "European": "유럽",
    "Asian": "아시아",
    "African": "아프리카",
    "Economic": "경제",
    "Monetary": "통화",
    "Political": "정치",
}
_VERBS = {  # English → before 있다, before 것이다, before 않을
    "eat": "먹고 먹을 먹지",
    "drink": "마시고 마실 마시지",
    "buy": "사고 살 사지",
    "sell": "팔고 팔 팔지",
    "read": "읽고 읽을 읽지",
    "write": "쓰고 쓸 쓰지",
    "draw": "그리고 그릴 그리지",
}
_PASSIVES = {"signed": "체결되", "published": "발표되", "adopted": "채택되"}  # + 었다, + 지 않았다
_TIMES = {"now": "지금", "today": "오늘", "tomorrow": "내일"}
_MONTHS = dict(March="3월", May="5월", June="6월", August="8월", October="10월")
_PRONOUNS = dict(I="나", you="너", he="그", she="그녀", we="우리", they="그들")
_PARTICLES = {"topic": "은 는", "subject": "이 가", "object": "을 를"}  # after a consonant, after a vowel


def korean(plan, source, at):
    """The Korean pair of a plan, given its English words and where its roles stand."""
    draft = Draft(at)
    (_report if isinstance(plan, Report) else _everyday)(plan, draft)
    return draft.pair(source)


def with_particle(word, role):
    """A noun with the particle of its role: 은/는 (topic), 이/가 (subject), 을/를 (object).

    A syllable block with a final consonant takes the first form. Blocks are numbered by 28 finals from 가 on,
    the first of them being none.
    """
    closed = (ord(word[-1]) - ord("가")) % 28 > 0
    return word + _PARTICLES[role].split()[0 if closed else 1]


def _add_phrase(draft, phrase, role, ending, *absorbed):
    """Add adjectives and noun; the noun takes the ending and absorbs the article, which Korean does not have."""
    for adjective in phrase.adjectives:
        draft.content(_ADJECTIVES[adjective], f"{role} {adjective}")
    draft.content(ending(_NOUNS[phrase.noun]), role, f"{role} article", *absorbed)


def _add_subject(draft, subject):
    if not isinstance(subject, Phrase):
        draft.function(with_particle(_PRONOUNS[subject], "topic"), "subject")
    elif subject.article == "a":  # a new person: 한 소녀가
        draft.function("한", "subject article")
        for adjective in subject.adjectives:
            draft.content(_ADJECTIVES[adjective], f"subject {adjective}")
        draft.content(with_particle(_NOUNS[subject.noun], "subject"), "subject")
    else:
        many = "들" if subject.plural else ""
        _add_phrase(draft, subject, "subject", lambda noun: with_particle(noun + many, "topic"))


def _everyday(plan, draft):
    if plan.time:
        draft.content(_TIMES[plan.time], "time")
    _add_subject(draft, plan.subject)
    if plan.place:
        _add_phrase(draft, plan.place, "place", lambda noun: noun + "에서", "in")
    _add_phrase(draft, plan.object, "object", lambda noun: with_particle(noun, "object"))
    going, will, negated = _VERBS[plan.verb].split()
    if plan.future:
        draft.content(negated if plan.negated else will, "verb")
        if plan.negated:
            draft.function("않을", "not")
        draft.function("것이다", "be")
    else:
        draft.content(going, "verb")
        draft.function("있지" if plan.negated else "있다", "be")
        if plan.negated:
            draft.function("않다", "not")


def _report(plan, draft):
    _add_phrase(draft, plan.topic, "topic", lambda noun: noun + "에")
    draft.function("관한", "on")
    _add_phrase(draft, plan.head, "head", lambda noun: with_particle(noun, "topic"))
    draft.content(plan.year + "년", "year")
    draft.content(_MONTHS[plan.month] + "에", "month", "in")
    stem = _PASSIVES[plan.verb]
    if plan.negated:
        draft.content(stem + "지", "verb")
        draft.function("않았다", "be", "not")
    else:
        draft.content(stem + "었다", "verb", "be")
    draft.function(".")
