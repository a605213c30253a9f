"""Sentences that mean the same in other words, beside sentences in almost the same words that mean something else."""

# A sentence, a paraphrase of it with other words, and a distractor with its words and another meaning.
TRIPLES = (
    ("A man is eating a meal", "Somebody has his dinner", "A man is cooking a meal for a dog"),
    ("The plane landed safely", "The aircraft touched down without trouble", "The plane was safely locked away"),
    ("She bought a new car", "She purchased another vehicle", "She washed a new car seat"),
    ("The child is crying", "A little boy is in tears", "The child is laughing"),
    ("He plays the guitar on stage", "A musician performs at a concert", "He sells the guitar on the market"),
    ("The store closes at nine", "The shop shuts in the evening", "The store opens a new branch at nine places"),
    ("My computer is very slow", "This laptop takes forever", "My brother is very slow"),
    ("It is raining heavily", "There is a downpour outside", "It is snowing on the heavily loaded truck"),
    ("The doctor gave him medicine", "A physician treated the patient", "The doctor gave him a book"),
    ("They won the football game", "Their team was victorious in the match", "They sold the football"),
    ("The bank lowered interest rates", "Borrowing money became cheaper", "The river bank lowered its water"),
    ("A bird is singing in the tree", "You can hear birdsong from the branches", "A girl is sitting in the tree"),
    ("The train was late this morning", "The railway had a delay today", "The train was painted this morning"),
    ("I forgot my password", "I cannot log in to my account", "I forgot my umbrella"),
    ("The soup is too hot", "You could burn your tongue on this broth", "The weather is too hot"),
    ("The police caught the thief", "Officers arrested a robber", "The police caught the bus"),
    ("She teaches mathematics", "She is an algebra teacher", "She hates mathematics"),
    ("The phone needs charging", "The battery of the mobile is empty", "The phone needs a new colour"),
    ("We walked along the beach", "We took a stroll by the sea", "We talked about the beach house prices"),
    ("The movie made everyone laugh", "The film was a funny comedy", "The movie made everyone rich"),
    ("He is afraid of spiders", "Insects with eight legs scare him", "He is a collector of spiders"),
    ("The price of bread went up", "Bakery goods got more expensive", "The smell of bread went up"),
    ("The king ruled for forty years", "The monarch had a long reign", "The king slept for forty hours"),
    ("The garden is full of flowers", "Roses and tulips bloom behind the house", "The garden is full of snow"),
    ("Please turn down the music", "Could you lower the volume of the song", "Please turn down the street"),
    ("The scientist discovered a planet", "An astronomer found a new world", "The scientist discovered a lie"),
    ("The baby fell asleep", "The infant is taking a nap", "The baby fell down"),
    ("The kitchen is on fire", "Flames are burning near the stove", "The kitchen is on the left"),
    ("He quit his job", "He resigned from the company", "He enjoys his job"),
    ("The lake is frozen", "The water has turned to ice", "The lake is famous"),
    ("The old bridge collapsed", "The ancient crossing broke down", "The old bridge club met"),
    ("Students passed the exam", "The pupils got good marks in the test", "Students passed the window"),
    ("She broke her leg", "She has a fractured bone", "She broke her cup"),
    ("The restaurant was crowded", "There were no free tables for lunch", "The restaurant was demolished"),
    ("The cat is chasing a mouse", "A kitten hunts a small rodent", "The cat is beside a computer mouse"),
    ("He speaks three languages", "He is fluent in French, German and English", "He speaks three times a week"),
    ("The sun rises in the east", "Dawn comes from one direction", "The sun burned her in the east wing"),
    ("The ship sank in the storm", "A vessel went down in rough weather", "The price sank in the storm of news"),
    ("I need to see a dentist", "My tooth hurts", "I need to see a movie"),
    ("The city banned cars downtown", "Vehicles may not enter the centre", "The city counted cars downtown"),
)
# Two sentences with the same words, whose roles are exchanged: not the same at all.
SWAPS = (
    ("The dog bit the man", "The man bit the dog"),
    ("The cat chased the mouse", "The mouse chased the cat"),
    ("The teacher praised the student", "The student praised the teacher"),
    ("The king killed the soldier", "The soldier killed the king"),
    ("Anna lent money to Ben", "Ben lent money to Anna"),
    ("The lawyer sued the bank", "The bank sued the lawyer"),
    ("The girl pushed the boy", "The boy pushed the girl"),
    ("The nurse called the doctor", "The doctor called the nurse"),
)


def paraphrases():
    """Triples of sentences, written for this course: an anchor, a paraphrase, a distractor with the anchor's words.

    Returns:
        Dictionary of lists of N strings: `anchor`, `paraphrase`, `distractor`. The paraphrase is the gold.
    """
    return {
        name: list(texts)
        for name, texts in zip(("anchor", "paraphrase", "distractor"), zip(*TRIPLES, strict=True), strict=True)
    }


def role_swaps():
    """Pairs of sentences with the same words, in which who does it and to whom are exchanged: list of (text, text)."""
    return list(SWAPS)


def word_overlap(first, second):
    """Share of words that two texts have in common, |A ∩ B| / |A ∪ B|: a similarity that knows no meaning.

    Args:
        first, second: strings.

    Returns:
        A number between 0 and 1.
    """
    a, b = set(first.lower().split()), set(second.lower().split())
    return len(a & b) / len(a | b)
