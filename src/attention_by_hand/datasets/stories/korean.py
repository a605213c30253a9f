"""The same short story in Korean, in the plain written style; the particles fit the sound before them."""

WOMEN = ("미나", "수진", "하은", "서연", "보라", "은주", "유리", "혜진")
MEN = ("지훈", "민호", "도윤", "준서", "현우", "태민", "영수", "상철")
PLACES = ("서울", "부산", "대구", "제주", "광주", "인천", "강릉", "전주", "안동", "여수")
THINGS = ("연", "북", "공", "책", "피리", "썰매", "등불", "자전거")

_HOMES = ("{place}에 산다", "{place}에서 일한다", "{place:으로로} 이사했다", "{place}에서 지낸다")
_OWNS = ("가지고 있다", "샀다", "만들었다", "찾았다")
_DAYS = ("어느 날", "일요일에", "이번 주에", "오월에")
_COMES = ("찾아온다", "놀러 온다", "들어온다", "인사한다")
_WANTS = ("{thing:을를} 좋아한다", "{thing:을를} 원한다", "{thing:이가} 필요하다", "{thing:을를} 갖고 싶어 한다")
_HANDS_OVER = (
    "그래서 {owner:은는} {place}에서 {guest}에게 그것을 빌려준다.",
    "그러자 {owner:은는} {place}에서 {guest}에게 그것을 준다.",
    "곧 {guest:은는} {place}에서 {owner}에게서 그것을 빌린다.",
    "드디어 {guest:은는} {place}에서 {owner}에게서 그것을 받는다.",
)
_RIEUL = 8  # number of ㄹ among the 28 finals of a syllable block


class Noun(str):
    """A word, perhaps between marks, that puts on its particle when formatted: `f"{Noun('연'):을를}"` is 연을."""

    def __format__(self, particles):
        """`particles` are the form after a consonant and the one after a vowel: 은는, 이가, 을를, 으로로."""
        return self + particle(self.strip("[]<>(){}"), particles) if particles else str(self)


def particle(word, particles):
    """The form of a particle that fits the last sound of a word.

    Syllable blocks are numbered by 28 finals from 가 on, the first of them being none. After ㄹ, 으로 becomes 로.

    Args:
        word: ends with a syllable block.
        particles: "은는", "이가", "을를" or "으로로".

    Raises:
        ValueError: the last sign is no syllable block, or the particles are others.
    """
    if particles not in ("은는", "이가", "을를", "으로로"):
        raise ValueError(f"particles must be 은는, 이가, 을를 or 으로로; got {particles!r}")
    if not word or not "가" <= word[-1] <= "힣":
        raise ValueError(f"word must end with a Korean syllable; got {word!r}")
    final = (ord(word[-1]) - ord("가")) % 28
    if particles == "으로로":
        return "로" if final in (0, _RIEUL) else "으로"
    return particles[0 if final else 1]


def korean(owner, guest, place, thing, choose):
    """The story as marked text; arguments as those of `english`."""
    pronoun = lambda name: "{그녀}" if name in WOMEN else "{그}"  # noqa: E731
    home, bought = choose(_HOMES), choose(_OWNS)
    day, comes = choose(_DAYS), choose(_COMES)
    marked = {"owner": Noun(f"[{owner}]"), "guest": Noun(f"[{guest}]"), "place": Noun(f"<{place}>")}
    return " ".join(
        (
            f"{Noun(owner):은는} {home.format(place=Noun(place))}.",
            f"{pronoun(owner)}는 {Noun(thing):을를} {bought}.",
            f"{day} {Noun(guest):이가} {comes}.",
            f"{pronoun(guest)}는 {choose(_WANTS).format(thing=Noun(f'({thing})'))}.",
            choose(_HANDS_OVER).format(**marked),
        )
    )
