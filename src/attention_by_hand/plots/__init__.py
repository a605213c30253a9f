"""Every figure of the chapters: NumPy in, matplotlib out, strings from the string table.

Each returns a `Picture`, which a notebook shows when it is the last line of a cell.
"""

from attention_by_hand.plots.common import bars, curves, heatmap

__all__ = ["bars", "curves", "heatmap"]
