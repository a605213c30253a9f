"""Small data sets made by our own code, each with gold labels, so that attention is scored and not admired."""

from attention_by_hand.datasets.recall import keyed_recall, without_gold

__all__ = ["keyed_recall", "without_gold"]
