"""Sentences with a pronoun whose meaning turns on one word: too tired, and it is the animal; too wide, the street."""

import itertools

import numpy as np

# Sentence, subjects, objects, words that fit the subject alone, words that fit the object alone.
FRAMES = (
    (
        "The {subject} didn't cross the {object} because it was too {word}",
        ("animal", "dog", "horse", "cow", "cat", "bear", "goat", "sheep"),
        ("street", "road", "bridge", "river", "lake", "highway"),
        ("tired", "hungry", "scared", "sick"),
        ("wide", "long", "crowded", "narrow"),
    ),
    (
        "The {subject} didn't fit into the {object} because it was too {word}",
        ("trophy", "ball", "statue", "guitar", "lamp", "vase", "clock", "chair"),
        ("suitcase", "box", "bag", "drawer", "basket", "trunk"),
        ("big", "large", "tall", "huge"),
        ("small", "narrow", "tiny", "full"),
    ),
    (
        "The {subject} could not lift the {object} because it was too {word}",
        ("robot", "machine", "horse", "elephant", "monkey", "dog", "bear", "boy"),
        ("stone", "piano", "log", "barrel", "table", "rock"),
        ("weak", "tired", "lazy", "sick"),
        ("heavy", "large", "massive", "thick"),
    ),
    (
        "The {subject} did not eat the {object} because it was too {word}",
        ("dog", "cat", "horse", "rabbit", "monkey", "bear", "mouse", "bird"),
        ("cake", "soup", "fish", "apple", "bread", "cheese"),
        ("tired", "sick", "sleepy", "nervous"),
        ("hot", "salty", "bitter", "dry"),
    ),
    (
        "The {subject} chased the {object} because it was so {word}",
        ("dog", "cat", "puppy", "fox", "wolf", "bear", "tiger", "monkey"),
        ("ball", "wheel", "hat", "leaf", "balloon", "kite"),
        ("hungry", "bored", "angry", "playful"),
        ("round", "colorful", "shiny", "flat"),
    ),
)
# The same as a passive, by frame; what does not fit has none.
PASSIVES = {
    0: "The {object} was not crossed by the {subject} because it was too {word}",
    2: "The {object} could not be lifted by the {subject} because it was too {word}",
    3: "The {object} was not eaten by the {subject} because it was too {word}",
    4: "The {object} was chased by the {subject} because it was so {word}",
}
VARIANTS = ("front", "exchanged", "passive")


def pronoun_pairs(count=160, seed=0):
    """Pairs of sentences that differ in their last word alone, and with it in what "it" stands for.

        subject  The animal didn't cross the street because it was too tired
        object   The animal didn't cross the street because it was too wide

    The gold is given by the sentence's frame: which of its words fit the one, and which the other.

    Args:
        count: number of pairs N, at most 960; no two have the same subject and object in the same frame with the
            same two words.
        seed: integer seed.

    Returns:
        Dictionary: `texts` (N, 2) strings, the reading as the subject and the one as the object; `frame` (N,) int32;
        `words` list of N dictionaries with `subject`, `object` and the two last words `tired` and `wide`.

    Raises:
        ValueError: `count` is smaller than 1 or larger than there are pairs.
    """
    every = [
        (frame, *choice)
        for frame, (_, *choices) in enumerate(FRAMES)
        for choice in itertools.product(choices[0], choices[1], range(len(choices[2])))
        if choice[0] != choice[1]
    ]
    most = len(every)
    if not 1 <= count <= most:
        raise ValueError(f"count must be between 1 and {most}; got {count}")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(every))[:count]
    texts, frames, words = [], [], []
    for number in order:
        frame, subject, thing, first = every[number]
        sentence, _, _, for_subject, for_object = FRAMES[frame]
        last = {"tired": for_subject[first], "wide": for_object[rng.integers(len(for_object))]}
        texts.append([sentence.format(subject=subject, object=thing, word=last[kind]) for kind in ("tired", "wide")])
        frames.append(frame)
        words.append({"subject": subject, "object": thing, **last})
    return {"texts": np.array(texts), "frame": np.array(frames, "int32"), "words": words}


def pronoun_variants(data, kind):
    """The same sentences, changed so that subject, first noun and doer are no longer one.

        front      Near the house the animal didn't cross the street …   another noun comes first
        exchanged  The street didn't cross the animal …                  the nouns have changed places
        passive    The street was not crossed by the animal …            the doer is no longer the subject

    Args:
        data: what `pronoun_pairs` gives.
        kind: one of these. Pairs whose frame has no passive are left out of `"passive"`.

    Returns:
        Dictionary as `data`; `subject` and `object` among the words are those of the *original* sentence.

    Raises:
        ValueError: an unknown `kind`.
    """
    if kind not in VARIANTS:
        raise ValueError(f"kind must be one of {', '.join(VARIANTS)}; got {kind!r}")
    kept = [n for n, frame in enumerate(data["frame"]) if kind != "passive" or int(frame) in PASSIVES]
    texts = []
    for n in kept:
        words, frame = data["words"][n], int(data["frame"][n])
        sentence = PASSIVES[frame] if kind == "passive" else FRAMES[frame][0]
        first, second = (words[w] for w in (("object", "subject") if kind == "exchanged" else ("subject", "object")))
        both = [sentence.format(subject=first, object=second, word=words[last]) for last in ("tired", "wide")]
        texts.append([f"Near the house t{text[1:]}" if kind == "front" else text for text in both])
    return {"texts": np.array(texts), "frame": data["frame"][kept], "words": [data["words"][n] for n in kept]}


def pronoun_places(data, wordpiece):
    """Where the subject, the object and the pronoun stand among the tokens: the first piece of each.

    Args:
        data: what `pronoun_pairs` gives.
        wordpiece: a `WordPiece`.

    Returns:
        Dictionary of int32 arrays (N,): `subject`, `object`, `pronoun`. Both sentences of a pair have the same.
    """

    def place(text, word):
        """The number of tokens in front of a word: `[CLS]` and the pieces of what stands before it."""
        before = text[: f"{text} ".index(f" {word} ") + 1]
        return len(wordpiece.tokens(before)) - 1

    found = {"subject": [], "object": [], "pronoun": []}
    for (text, _), words in zip(data["texts"], data["words"], strict=True):
        for kind, word in (("subject", words["subject"]), ("object", words["object"]), ("pronoun", "it")):
            found[kind].append(place(str(text), word))
    return {kind: np.array(places, "int32") for kind, places in found.items()}


def echoes(count=80, seed=0):
    """Sentences in which words come back: "The dog saw the cat and the cat saw the dog".

    Args:
        count: number of sentences N.
        seed: integer seed.

    Returns:
        List of N strings; a sentence may appear more than once.

    Raises:
        ValueError: `count` is smaller than 1.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    rng = np.random.default_rng(seed)
    names = ("dog", "cat", "horse", "fox", "wolf", "bear", "cow", "bird", "boy", "girl", "king", "doctor")
    deeds = ("saw", "heard", "followed", "helped", "found", "liked")
    joints = ("and then", "and later", "before", "after", "while", "because")
    texts = []
    for _ in range(count):
        a, b = (names[n] for n in rng.choice(len(names), size=2, replace=False))
        deed, joint = deeds[rng.integers(len(deeds))], joints[rng.integers(len(joints))]
        texts.append(f"The {a} {deed} the {b} {joint} the {b} {deed} the {a}")
    return texts
