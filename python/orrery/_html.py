# SPDX-License-Identifier: Apache-2.0
"""What Jupyter shows: plain tables, and one bar that a step's time is cut into. No script, no style sheet, no network."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

ROWS_MOST = 24
COLOURS = ("#4269d0", "#6c8ee6", "#efb118", "#ff725c", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0", "#3ca951", "#ff8ab7")


def number(value: Any) -> str:
    """
    >>> number(1234567), number(0.45182), number(True), number(None), number("ring")
    ('1,234,567', '0.4518', 'yes', '', 'ring')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return str(value)


def time_text(ns: float) -> str:
    """
    >>> time_text(950), time_text(117780), time_text(9269002), time_text(16459906000)
    ('950 ns', '117.8 us', '9.269 ms', '16.46 s')
    """
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.4g} {unit}"
    return f"{ns:.0f} ns"


def table(rows: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows[:ROWS_MOST] for name in row))

    def cells(tag: str, said: list[str]) -> str:
        return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in said)

    body = "".join(f"<tr>{cells('td', [number(row.get(name)) for name in names])}</tr>" for row in rows[:ROWS_MOST])
    more = len(rows) - ROWS_MOST
    return (f"<table><thead><tr>{cells('th', names)}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<p>and {more:,} more rows</p>" if more > 0 else ""))


def bar(parts: Sequence[tuple[str, float]], width: int = 720) -> str:
    """A bar cut into the parts that are not nothing (times in ns), with what each is below it."""
    told = [(name, ns) for name, ns in parts if ns > 0]
    whole = sum(ns for _, ns in told)
    if not told:
        return ""
    drawn, at = [], 0.0
    for index, (name, ns) in enumerate(told):
        colour, share = COLOURS[index % len(COLOURS)], ns / whole
        line = f"{name}: {time_text(ns)}, {100 * share:.1f} %"
        column, row = index % 2 * width // 2, 44 + index // 2 * 18
        drawn.append(f'<rect x="{at:.1f}" y="2" width="{max(share * width, 0.5):.1f}" height="24" fill="{colour}">'
                     f"<title>{escape(line)}</title></rect>"
                     f'<rect x="{column}" y="{row - 9}" width="10" height="10" fill="{colour}"/>'
                     f'<text x="{column + 15}" y="{row}">{escape(line)}</text>')
        at += share * width
    height = 44 + (len(told) + 1) // 2 * 18
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img" font-family="sans-serif" font-size="12" fill="currentColor">'
            f"<title>{escape(time_text(whole))}</title>{''.join(drawn)}</svg>")
