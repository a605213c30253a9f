"""The table of a parity run: a row for each group of options, printed in chapters and asserted in tests."""

import html

from attention_by_hand import strings
from attention_by_hand.parity.compare import TOLERANCE

COLUMNS = {  # name of the header's string → beginnings of the quantities that the column summarises
    "outputs": ("output",),
    "weights": ("weights",),
    "input_gradients": ("d/d query", "d/d value", "d/d key", "d/d x", "d/d memory", "d/d initial_state"),
    "weight_gradients": ("d/d weight",),
}


class Table:
    """Comparisons collected by group of options.

    Attributes:
        title: name of the layer.
        groups: `{label: [Comparison, …]}`.
        missing: `{label: [option, …]}`: options that this Keras does not have.
        mismatches: one sentence for every quantity that differs, with the case that shows it.
    """

    def __init__(self, title):
        self.title = title
        self.groups = {}
        self.missing = {}
        self.mismatches = []

    def add(self, case, comparison):
        """Count one case."""
        self.groups.setdefault(case.label, []).append(comparison)
        about = (
            f"{self.title}({'' if case.label == '()' else case.label}), masks {case.masks}, (Tq, Tv) = {case.lengths}"
        )
        self.mismatches += [f"{about}{', key' if case.with_key else ''}: {text}" for text in comparison.mismatches]

    def skip(self, label, absent):
        """Note a case that needs options which this Keras does not have."""
        self.missing[label] = absent

    @property
    def cases(self):
        """Number of cases that were compared."""
        return sum(len(group) for group in self.groups.values())

    @property
    def ok(self):
        """Whether there was at least one case and all of them agree."""
        return self.cases > 0 and not self.mismatches

    def check(self):
        """Return the table itself, or raise an AssertionError that lists the first mismatches."""
        if not self.ok:
            raise AssertionError("\n".join([self.verdict(), *self.mismatches[:5]]))
        return self

    def verdict(self):
        """The last line: how many cases, and whether all agree."""
        key = "parity.verdict" if self.ok else "parity.failed"
        return strings.text(key, cases=self.cases, tolerance=f"{TOLERANCE:.0e}", failed=len(self.mismatches))

    def rows(self):
        """The table as lists of strings, the header first."""
        rows = [[strings.text(f"parity.header.{name}") for name in ("options", "cases", *COLUMNS)]]
        for label, group in self.groups.items():
            largest = [[c.largest(*prefixes) for c in group] for prefixes in COLUMNS.values()]
            known = [[x for x in column if x is not None] for column in largest]
            rows.append([label, str(len(group)), *(f"{max(column):.0e}" if column else "–" for column in known)])
        absent = strings.text("parity.missing")
        rows += [
            [label, f"{absent}: {', '.join(options)}", *[""] * len(COLUMNS)] for label, options in self.missing.items()
        ]
        return rows

    def __str__(self):
        rows = self.rows()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, *lines, self.verdict(), *self.mismatches[:5]])

    __repr__ = __str__

    def _repr_html_(self):
        header, *body = ([html.escape(cell) for cell in row] for row in self.rows())
        head = "".join(f"<th>{cell}</th>" for cell in header)
        lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body)
        notes = "".join(f"<p>{html.escape(text)}</p>" for text in (self.verdict(), *self.mismatches[:5]))
        return f"<p><b>{html.escape(self.title)}</b></p><table><tr>{head}</tr>{lines}</table>{notes}"
