"""Interpolated Kneser–Ney n-grams: the next symbol from counts of what followed the last few."""

import numpy as np


class KneserNey:
    """Probability of a symbol w after a context h of `order` − 1 symbols, from counts.

        p_n(w | h) = (max(c(h w) − D, 0) + D · t(h) · p_{n−1}(w | h')) / Σ_w c(h w)
        p_0(w) = 1 / V

    h' is h without its oldest symbol, t(h) the number of different symbols seen after h, D the discount. For the full
    order c counts how often `h w` occurs. For shorter ones it counts in how many *different* surroundings: the number
    of different symbols seen in front of `h w`. Where h was never seen, p_n(w | h) = p_{n−1}(w | h').

    Args:
        order: n, the longest n-gram; it sees n − 1 symbols.
        symbols: V, how many symbols there are; ids 0 … V − 1. Before its first symbol every row continues with id 0.
        discount: D, in (0, 1).

    Raises:
        ValueError: an order or a number of symbols below 1, V^n beyond 64 bits, or a discount outside (0, 1).

    Source: Kneser & Ney 1995, "Improved backing-off for m-gram language modeling"; interpolated: Chen & Goodman 1999,
    "An empirical study of smoothing techniques for language modeling".
    """

    def __init__(self, order, symbols, discount=0.75):
        for name, number in (("order", order), ("symbols", symbols)):
            if not isinstance(number, (int, np.integer)) or number < 1:
                raise ValueError(f"{name} must be a positive integer; got {number!r}")
        if symbols**order >= 2**63:
            raise ValueError(f"order must leave symbols^order below 2^63; got {symbols}^{order}")
        self.order, self.symbols = int(order), int(symbols)
        self.discount = checked_discount(discount)
        self.levels = []

    def fit(self, tokens, target, weight=None):
        """Count n-grams of rows of text.

        Args:
            tokens: integers (N, T), what is read; the first of a row is the stop, id 0.
            target: integers (N, T), the symbol after each.
            weight: (N, T), 0 where there is nothing to learn from; or None.

        Returns:
            The model itself.

        Raises:
            ValueError: another shape, or ids outside of 0 … V − 1.
        """
        codes = self.codes(tokens, target)
        codes = codes.reshape(-1) if weight is None else codes[np.asarray(weight) > 0]
        grams, counts = np.unique(codes, return_counts=True)  # n-grams as numbers to the base V, newest digit last
        self.levels = []
        for length in range(self.order, 0, -1):
            contexts, place = np.unique(grams // self.symbols, return_inverse=True)
            totals, types = np.bincount(place, weights=counts), np.bincount(place)
            self.levels.append((grams, counts, contexts, totals, types))
            grams, counts = np.unique(grams % self.symbols ** (length - 1), return_counts=True)  # different fronts
        self.levels.reverse()
        return self

    def codes(self, tokens, target):
        """For every place the n-gram that ends with the target, as one integer; (N, T)."""
        tokens, target = np.asarray(tokens), np.asarray(target)
        if tokens.ndim != 2 or tokens.shape != target.shape:
            raise ValueError(f"tokens and target must both be (N, T); got {tokens.shape} and {target.shape}")
        both = np.concatenate([tokens, target])
        if both.size and not (0 <= both.min() and both.max() < self.symbols):
            raise ValueError(f"ids must be in 0 … {self.symbols - 1}; got {both.min()} … {both.max()}")
        code = target.astype("int64")
        for back in range(min(self.order - 1, tokens.shape[1])):
            seen = np.zeros_like(code)
            seen[:, back:] = tokens[:, : tokens.shape[1] - back]
            code += seen * self.symbols ** (back + 1)
        return code

    def probability(self, tokens, target, discount=None):
        """Probability (N, T) of each target after the symbols up to it; arguments as in `fit`.

        Args:
            tokens, target: integers (N, T).
            discount: in place of the model's.

        Raises:
            ValueError: as `fit`, or the model has counted nothing yet.
        """
        if not self.levels:
            raise ValueError("probability needs counts: call fit first")
        discount = self.discount if discount is None else checked_discount(discount)
        codes = self.codes(tokens, target)
        p = np.full(codes.shape, 1.0 / self.symbols)
        for length, (grams, counts, contexts, totals, types) in enumerate(self.levels, start=1):
            gram = codes % self.symbols**length
            count, context = look_up(gram, grams, counts), gram // self.symbols
            total, kinds = look_up(context, contexts, totals), look_up(context, contexts, types)
            mixed = (np.maximum(count - discount, 0) + discount * kinds * p) / np.maximum(total, 1)
            p = np.where(total > 0, mixed, p)
        return p

    def bits(self, tokens, target, discount=None):
        """−log₂ of `probability`, (N, T)."""
        return -np.log2(self.probability(tokens, target, discount))


def look_up(wanted, keys, values):
    """The value of each wanted number among sorted keys, 0 where it is none of them."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0)


def checked_discount(discount):
    """A discount in (0, 1)."""
    if not 0 < discount < 1:
        raise ValueError(f"discount must be between 0 and 1; got {discount}")
    return float(discount)


def tune_kneser_ney(train, validation, symbols, orders=range(1, 9), discounts=(0.1, 0.3, 0.5, 0.7, 0.9)):
    """One model for every order, each with the discount that is best on the validation data.

    Args:
        train, validation: dictionaries with `tokens`, `target`, `weight`, all (N, T).
        symbols: how many there are.
        orders, discounts: what is tried.

    Returns:
        `{order: (model, bits per symbol on the validation data)}`.
    """
    found, seen = {}, np.asarray(validation["weight"]) > 0
    for order in orders:
        model = KneserNey(order, symbols).fit(train["tokens"], train["target"], train["weight"])
        bits = {d: model.bits(validation["tokens"], validation["target"], d)[seen].mean() for d in discounts}
        model.discount = min(bits, key=bits.get)
        found[order] = (model, float(bits[model.discount]))
    return found
