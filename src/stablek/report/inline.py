"""A small picture of the scores as SVG, for notebooks."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from stablek.report.fitted import Fitted

__all__ = ["score_svg"]

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 420, 150, 12, 24, 18, 12


def score_svg(fitted: Fitted) -> str:
    """Return the score of each candidate as a curve, the answer marked; empty without scores.

    Lines and texts have the color of the page, so that the picture works in light and in dark.
    """
    finite = np.isfinite(fitted.scores)
    if finite.sum() < 2:
        return ""
    positions = _positions(fitted.values)
    x = LEFT + (WIDTH - LEFT - RIGHT) * positions
    scores = np.where(finite, fitted.scores, np.nan)
    low, high = np.nanmin(scores), np.nanmax(scores)
    share = (scores - low) / (high - low if high > low else 1.0)
    y = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
    points = " ".join(f"{x[i]:.1f},{y[i]:.1f}" for i in np.flatnonzero(finite))
    parts = [f'<polyline points="{points}" fill="none" stroke="currentColor" opacity="0.6"/>']
    parts += [
        f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="2.5" fill="currentColor"/>'
        for i in np.flatnonzero(finite)
    ]
    if fitted.selected is not None:
        parts.append(_chosen(fitted, x[fitted.selected], y[fitted.selected]))
    step = max(1, -(-len(x) // 12))
    parts += [
        f'<text x="{x[i]:.1f}" y="{HEIGHT - 8}" text-anchor="middle" font-size="11" '
        f'fill="currentColor">{escape(str(fitted.values[i])[:8])}</text>'
        for i in range(0, len(x), step)
    ]
    title = f"Score of each {fitted.parameter}; higher is better"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}" style="max-width:100%"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def _chosen(fitted: Fitted, x: float, y: float) -> str:
    """Mark the answer; a line where it has no score."""
    assert fitted.selected is not None
    color = "#D55E00"
    if np.isnan(y):
        ends = f'y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
        return f'<line x1="{x:.1f}" x2="{x:.1f}" {ends} stroke="{color}" stroke-dasharray="4 3"/>'
    return (
        f'<circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{color}" '
        f'stroke-width="2.5"/><text x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle" '
        f'font-size="11" font-weight="bold" fill="{color}">'
        f"{escape(str(fitted.values[fitted.selected])[:8])}</text>"
    )


def _positions(values: list[object]) -> NDArray[np.float64]:
    """Where the candidates lie between 0 and 1: evenly if they are not numbers."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.arange(len(values), dtype=np.float64)
    width = np.ptp(numbers)
    return np.asarray((numbers - numbers.min()) / (width if width > 0 else 1.0))
