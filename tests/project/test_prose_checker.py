"""The checker of numbers in prose, on small cases made by hand."""

import pytest

from attention_by_hand.course import prose

CLAIMS = {
    "05.raw": {"band": [0, 1], "values": {"torch": [0.0712, 0.0714], "jax": [0.0706, 0.071]}},
    "05.share": {"band": [0, 1], "values": {"torch": [0.9312], "jax": [0.9288]}},
    "05.drop": {"band": [-9, 0], "values": {"torch": [-0.4321], "jax": [-0.4321]}},
    "05.big": {"band": [0, 9e9], "values": {"torch": [10512.0], "jax": [10512.0]}},
}


def problems(text):
    return [str(problem) for problem in prose.check(text, CLAIMS)]


@pytest.mark.parametrize(
    "text",
    [
        "The entropy is 0.071<!-- 05.raw -->, and no more.",
        "**0.071**<!-- 05.raw --> in bold, *0.071<!-- 05.raw -->* in italics",
        "It is right in 93 %<!-- 05.share --> or 93%<!-- 05.share --> or 93.1 %<!-- 05.share --> of all cases.",
        "It falls by −0.43<!-- 05.drop -->, or -0.432<!-- 05.drop -->.",
        "10,512<!-- 05.big --> steps",
        "ln 10 = 2.303<!-- given --> would be an even spread.",
        "`x = 0.5` and ``y = 0.5`` and\n```python\nz = 0.25\n```\nand $0.1 + 0.2$ and $$\n0.3\n$$",
        "[a link of 0.5](https://example.org/1.5) and <https://example.org/2.5>",
        "<!-- a note about 0.5 --> text",
        "Keras 3.13.2 and Keras 3.15, Python ≥ 3.11, version 2.0, Apache-2.0",
        "## 5.2 Why divide\n\n**Exercise 5.2** *(3 minutes)*. See sections 5.1 and 5.3, §3.2, A.1.2, Figure 2.1.",
        "**Question 0.1** See sections 4.1 (overflow and softmax) and 9.1 (convolution).",
        "Bahdanau et al., arXiv:1409.0473, equation 2.1",
        "In 2015 there were 3 heads, 10 keys and a step of 1e-5.",
    ],
)
def test_sourced_or_exempt_numbers_pass(text):
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "number", "says"),
    [
        ("The entropy is 0.071.", "0.071", "names no source"),
        ("The entropy is 0.08<!-- 05.raw -->.", "0.08", "05.raw is between 0.0706 and 0.0714"),
        ("The entropy is 0.072<!-- 05.raw -->.", "0.072", "between"),
        ("The entropy is 0.0700<!-- 05.raw -->.", "0.0700", "between"),
        ("Right in 90 %<!-- 05.share -->.", "90 %", "05.share is between 92.88 and 93.12"),
        ("Right in 0.93 %<!-- 05.share -->.", "0.93 %", "between"),
        ("Right in 94<!-- 05.share -->.", "94", "between"),
        ("It falls by 0.43<!-- 05.drop -->.", "0.43", "05.drop is between -0.4321 and -0.4321"),
        ("A value of 0.5<!-- 05.nobody -->.", "0.5", "there is no claim '05.nobody'"),
        ("A value of 0.5<!-- measured -->.", "0.5", "neither a claim's name nor 'given'"),
        ("A value of 0.5 <!-- 05.raw -->.", "0.5", "names no source"),
        ("`0.1` but 0.2 and $0.3$", "0.2", "names no source"),
        ("The table falls from 0.8<!-- given --> to 0.7.", "0.7", "names no source"),
        ("Keras 3.15 needs 0.5 s", "0.5", "names no source"),
        ("It costs $5 and 0.7 more, or $6", "0.7", "names no source"),
        ("Exercise 0.01<!-- 05.raw --> is named like a section, and compared all the same.", "0.01", "between"),
    ],
)
def test_unsourced_or_wrong_numbers_are_caught(text, number, says):
    (problem,) = problems(text)
    assert problem.startswith(f"{number}: ") and says in problem
