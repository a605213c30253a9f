"""What chapters train: thin compositions of layers."""

from attention_by_hand.models.recall import recall_model

__all__ = ["recall_model"]
