"""The clock of chapter 14: parts keep every batch once and in order, and a sentence counts only if all is right."""

import keras
import numpy as np
import pytest

from attention_by_hand.models import ExactClock, Parts, forced_exact


class Numbers(keras.utils.PyDataset):
    """Six batches of one number; a new pass counts on."""

    def __init__(self):
        super().__init__()
        self.passes = 0

    def __len__(self):
        return 6

    def __getitem__(self, index):
        x = np.full((1, 1), 10.0 * self.passes + index, "float32")
        return x, x

    def on_epoch_end(self):
        self.passes += 1


class Fixed:
    """Gives every row, known by its number, its scores."""

    def __init__(self, scores):
        self.scores = scores

    def predict_on_batch(self, inputs):
        return self.scores[inputs["row"]]


def test_every_batch_comes_once_a_pass_and_in_order():
    parts, seen = Parts(Numbers(), 3), []
    for epoch in range(5):
        parts.begin(epoch)
        seen.append([float(parts[i][0][0, 0]) for i in range(len(parts))])
    assert seen == [[0, 1], [2, 3], [4, 5], [10, 11], [12, 13]]


def test_keras_itself_goes_through_the_parts_in_order():
    x = keras.Input((1,), name="x")
    model = keras.Model(x, keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros", trainable=False)(x))
    model.compile("sgd", "mse")
    parts = Parts(Numbers(), 3)
    clock = ExactClock(parts, {"x": np.ones((1, 1))}, np.zeros((1, 1)))
    loss = model.fit(parts, epochs=4, shuffle=False, verbose=0, callbacks=[clock]).history["loss"]
    expected = [(0 + 1) / 2, (4 + 9) / 2, (16 + 25) / 2, (100 + 121) / 2]  # mean squares: the model says 0
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.parametrize("parts", [0, 4, 7])
def test_parts_that_do_not_divide_the_batches_are_refused(parts):
    with pytest.raises(ValueError, match="parts must divide the number of batches, 6"):
        Parts(Numbers(), parts)


def test_one_wrong_word_makes_a_sentence_wrong_and_padding_does_not():
    words = np.array([[3, 1, 0], [2, 2, 1], [3, 0, 0]])
    said = np.array([[3, 1, 2], [2, 3, 1], [3, 1, 1]])
    inputs = {"row": np.arange(3)}
    for size in (1, 2, 3):
        assert forced_exact(Fixed(np.eye(4)[said]), inputs, words, size) == pytest.approx(2 / 3)
    said[1, 1] = 2
    assert forced_exact(Fixed(np.eye(4)[said]), inputs, words) == 1


def test_the_clock_counts_updates_and_finds_when_a_share_was_reached():
    words = np.array([[1, 0], [2, 2]])
    clock = ExactClock(Parts(Numbers(), 3), {"row": np.arange(2)}, words)
    assert clock.reached(0) == (float("inf"), float("inf"))
    answers = [[[0, 0], [2, 1]], [[1, 1], [2, 1]], [[1, 0], [2, 2]]]  # 0, 1 and 2 sentences right
    for epoch, said in enumerate(answers):
        clock.set_model(Fixed(np.eye(3)[said]))
        clock.on_epoch_begin(epoch)
        for batch in range(4):
            clock.on_train_batch_end(batch)
        clock.on_epoch_end(epoch)
    assert clock.updates == [4, 8, 12] and clock.exact == [0, 0.5, 1]
    assert clock.reached(0.5) == (8, clock.seconds[1])
    assert clock.reached(1.01) == (float("inf"), float("inf"))
    assert 0 < clock.first <= clock.seconds[0] < clock.seconds[1] < clock.seconds[2]
