"""Lines over logarithmic axes, as SVG."""

from __future__ import annotations

import math
from html import escape

WIDTH, HEIGHT = 760, 470
LEFT, RIGHT, TOP, BOTTOM = 76, 176, 50, 54
COLORS = {
    "quire-c": "#c2410c", "quire-python": "#ea8a2f", "sqlite-c": "#64748b", "sqlite-c-commit": "#94a3b8",
    "sqlite-c-requery": "#475569", "grdb": "#7c3aed", "sqlite3": "#0f766e", "sqlalchemy": "#2563eb",
    "peewee": "#65a30d"}
OURS = ("quire-c", "quire-python")

Points = list[tuple[float, float]]


def drawn(title: str, across: str, up: str, lines: dict[str, Points], unit) -> str:
    """A picture of the lines by the names of their contenders; `unit(value)` is how a number is written."""
    plane = _Plane([point for points in lines.values() for point in points])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="600" fill="#111827">{escape(title)}</text>',
        f'<text x="{LEFT}" y="41" fill="#6b7280">{escape(up)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 14}" text-anchor="middle" fill="#6b7280">'
        f'{escape(across)}</text>']
    parts += plane.grid(unit)
    ends = []
    for name, points in lines.items():
        color = COLORS.get(name, "#111827")
        width = 3 if name in OURS else 1.6
        path = " ".join(f"{plane.x(x):.1f},{plane.y(y):.1f}" for x, y in sorted(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')
        parts += [
            f'<circle cx="{plane.x(x):.1f}" cy="{plane.y(y):.1f}" r="{width + 1}" fill="{color}"><title>'
            f'{escape(name)}, {x:,.0f}: {escape(unit(y))}</title></circle>' for x, y in points]
        x, y = max(points)
        ends.append((plane.y(y), plane.x(x), name, unit(y), color))
    parts += _labels(ends)
    return "\n".join([*parts, "</svg>", ""])


class _Plane:
    """Where numbers lie in the picture."""

    def __init__(self, points: Points) -> None:
        self.low_x, self.high_x = min(x for x, _ in points), max(x for x, _ in points)
        self.low = math.floor(math.log10(min(y for _, y in points)))
        self.high = math.ceil(math.log10(max(y for _, y in points)) + 1e-9)
        self.xs = sorted({x for x, _ in points})

    def x(self, value: float) -> float:
        span = math.log10(self.high_x / self.low_x) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(value / self.low_x) / span

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - self.low) / (self.high - self.low)

    def grid(self, unit) -> list[str]:
        parts = []
        for power in range(self.low, self.high + 1):
            y = self.y(10.0 ** power)
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e5e7eb"/>')
            parts.append(
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#6b7280">'
                f'{escape(unit(10.0 ** power).replace(".00", "").replace(".0", ""))}</text>')
        for x in self.xs:
            parts.append(
                f'<line x1="{self.x(x):.1f}" y1="{TOP}" x2="{self.x(x):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e5e7eb"/>')
            parts.append(
                f'<text x="{self.x(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#6b7280">'
                f'{x:,.0f}</text>')
        return parts


def _labels(ends: list[tuple[float, float, str, str, str]]) -> list[str]:
    """Names beside the ends of the lines, moved apart where they would cover each other."""
    parts, last = [], -math.inf
    for y, x, name, value, color in sorted(ends):
        last = place = max(y, last + 15)
        weight = ' font-weight="600"' if name in OURS else ""
        parts.append(
            f'<text x="{x + 10:.1f}" y="{place + 4:.1f}" fill="{color}"{weight}>{escape(name)} {escape(value)}</text>')
    return parts
