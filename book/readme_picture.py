"""Draws book/readme.png: what three trained models attend to in the same keyed-recall lists.

Run: KERAS_BACKEND=torch python book/readme_picture.py
"""

from pathlib import Path

import keras
import numpy as np
from matplotlib.patches import Rectangle

import attention_by_hand as abh
from attention_by_hand.plots.common import COLORS, draw_weights, name_axes, picture, style

PARTS = ("query", "key", "value", "mask")
SHOWN = 5


def weights_of(attention, train, test):
    """Train the recall model with one attention layer; accuracy and the weights of the first test lists."""
    abh.set_seed()
    model, weights_model = abh.models.recall_model(attention, keys=16, values=8)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    model.fit({name: train[name] for name in PARTS}, train["target"], batch_size=128, epochs=4, verbose=0)
    inputs = {name: test[name] for name in PARTS}
    accuracy = model.evaluate(inputs, test["target"], verbose=0)[1]
    return accuracy, weights_model.predict(inputs, verbose=0)[:SHOWN, 0]


def main():
    print(abh.setup())
    train = abh.datasets.keyed_recall(8000, min_pairs=4, seed=0)
    test = abh.datasets.keyed_recall(2000, min_pairs=4, seed=1000)
    layers = {
        "mean": abh.layers.UniformAttention(),
        "additive": abh.layers.AdditiveAttention(units=16),
        "dot": abh.layers.DotProductAttention(scale="sqrt"),
    }
    with style():
        figure, axes = picture(1, 3, title="plots.readme.title", width=13.5, height=3.4)
        for ax, (name, layer) in zip(axes[0], layers.items(), strict=True):
            accuracy, weights = weights_of(layer, train, test)
            rows = [f"{query} ?" for query in test["query"][:SHOWN, 0]]
            draw_weights(ax, weights, rows, range(1, weights.shape[1] + 1), digits=None, top=1.0)
            for (i, j), weight in np.ndenumerate(weights):
                key = test["key"][i, j]
                ax.text(j, i, key or "–", ha="center", va="center", color="white" if weight > 0.6 else "black")
                if j == test["position"][i]:
                    frame = Rectangle((j - 0.46, i - 0.45), 0.92, 0.9, fill=False, ec=COLORS[1], lw=2.5)
                    ax.add_patch(frame)
            ax.set_title(abh.strings.text(f"plots.readme.{name}", accuracy=f"{100 * accuracy:.0f}"))
            name_axes(ax, "plots.readme.xlabel", "plots.readme.ylabel" if name == "mean" else None)
    file = Path(__file__).with_name("readme.png")
    file.write_bytes(figure._repr_png_())
    print(f"{file.name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
