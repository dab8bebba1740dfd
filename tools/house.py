"""Draws docs/house.svg from the table of rooms in docs/architecture.md.

A room stands one floor above the highest room it uses. Only arrows that no path of other arrows
implies are drawn, because all of them together would hide the house. A test fails when the
committed picture is not what this script draws; run it after you change the table.
"""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Final, NamedTuple

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"

FLOOR: Final = 96  # from the top of one floor to the top of the next
HEIGHT: Final = 42
GAP: Final = 30
MARGIN: Final = 12
PASSAGE: Final = 10  # the width of an arrow that passes a floor
STARTS: Final = 40


class Stop(NamedTuple):
    """A place on a floor: a room, or where an arrow between two distant floors passes."""

    floor: int
    room: str
    arrow: tuple[str, str] | None = None

    @property
    def width(self) -> float:
        return PASSAGE if self.arrow else 36 + 9 * len(self.room)


Link = tuple[Stop, Stop]
Floors = list[list[Stop]]
Ways = dict[tuple[str, str], list[Stop]]


def read_law(page: str) -> dict[str, set[str]]:
    """Return the rooms of the page's table in their order, each with the rooms it may use."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|[^|]*\|$", page, flags=re.M)
    return {room: set(re.findall(r"`(\w+)`", uses)) for room, uses in rows}


def closure(law: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return everything each room reaches by following arrows."""
    reached: dict[str, set[str]] = {}

    def reach(room: str) -> set[str]:
        if room not in reached:
            uses = law.get(room, set())
            reached[room] = uses.union(*(reach(used) for used in uses))
        return reached[room]

    return {room: reach(room) for room in law}


def reduction(law: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the fewest arrows with the same closure."""
    reached = closure(law)
    return {
        room: {used for used in uses if not any(used in reached[other] for other in uses)}
        for room, uses in law.items()
    }


def floor_of(law: dict[str, set[str]], room: str) -> int:
    """Return the length of the longest path from a room to the ground."""
    return max((1 + floor_of(law, used) for used in law[room]), default=0)


def stops(law: dict[str, set[str]]) -> tuple[Floors, Ways]:
    """Return what stands on each floor, and the way of each arrow from stop to stop."""
    level = {room: floor_of(law, room) for room in law}
    floors: Floors = [[] for _ in range(max(level.values()) + 1)]
    for room, floor in level.items():
        floors[floor].append(Stop(floor, room))
    ways: Ways = {}
    for room, uses in reduction(law).items():
        for used in sorted(uses):
            between = range(level[room] - 1, level[used], -1)
            passed = [Stop(floor, used, (room, used)) for floor in between]
            for stop in passed:
                floors[stop.floor].append(stop)
            ways[room, used] = [Stop(level[room], room), *passed, Stop(level[used], used)]
    return floors, ways


def crossings(floors: Floors, pairs: list[tuple[Link, Link]]) -> int:
    """Count the pairs of links between the same two floors that cross."""
    place = {stop: index for floor in floors for index, stop in enumerate(floor)}
    return sum((place[a] - place[c]) * (place[b] - place[d]) < 0 for (a, b), (c, d) in pairs)


def untangle(floors: Floors, links: list[Link]) -> Floors:
    """Return an order of each floor with few crossings.

    Two stops are swapped for as long as that removes a crossing. What this ends with depends on
    the order it began with, so it begins with several: always the same ones, for the picture must
    not change by itself.
    """
    pairs = [two for two in itertools.combinations(links, 2) if two[0][0].floor == two[1][0].floor]
    drawn = random.Random(0)
    tried = []
    for _ in range(STARTS):
        order = [drawn.sample(floor, len(floor)) for floor in floors]
        tried.append((_swap(order, pairs), order))
    return min(tried, key=lambda each: each[0])[1]


def _swap(floors: Floors, pairs: list[tuple[Link, Link]]) -> int:
    best, improved = crossings(floors, pairs), True
    while improved and best:
        improved = False
        for floor in floors:
            for i, j in itertools.combinations(range(len(floor)), 2):
                floor[i], floor[j] = floor[j], floor[i]
                now = crossings(floors, pairs)
                if now < best:
                    best, improved = now, True
                else:
                    floor[i], floor[j] = floor[j], floor[i]
    return best


def spread(floor: list[Stop], wanted: list[float]) -> list[float]:
    """Centers as close to the wanted ones as order and widths allow (least squares)."""
    offsets = [0.0]
    for left, right in itertools.pairwise(floor):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP)
    blocks: list[list[float]] = []
    for value in (want - offset for want, offset in zip(wanted, offsets, strict=True)):
        blocks.append([value])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    level = [_mean(block) for block in blocks for _ in block]
    return [base + offset for base, offset in zip(level, offsets, strict=True)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def centers(floors: Floors, links: list[Link]) -> dict[Stop, float]:
    """Place each stop from left to right: between those that it is linked with."""
    x = {stop: 120.0 * index for floor in floors for index, stop in enumerate(floor)}
    for _ in range(60):
        for floor in (*floors, *reversed(floors)):
            wanted = []
            for stop in floor:
                near = [x[b] if a == stop else x[a] for a, b in links if stop in (a, b)]
                wanted.append(_mean(near) if near else x[stop])
            x.update(zip(floor, spread(floor, wanted), strict=True))
    left = min(x[stop] - stop.width / 2 for stop in x)
    return {stop: round(value - left + MARGIN) for stop, value in x.items()}


def draw(law: dict[str, set[str]]) -> str:
    """Draw the picture as SVG. Everything has the color of the text around it, light or dark."""
    floors, ways = stops(law)
    links = [link for way in ways.values() for link in itertools.pairwise(way)]
    floors = untangle(floors, links)
    x = centers(floors, links)
    top = {stop: MARGIN + (len(floors) - 1 - stop.floor) * FLOOR for stop in x}
    width = round(max(x[stop] + stop.width / 2 for stop in x) + MARGIN)
    height = (len(floors) - 1) * FLOOR + HEIGHT + 2 * MARGIN
    rooms = [stop for floor in reversed(floors) for stop in floor if not stop.arrow]

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' aria-labelledby="house-title"',
        f'     style="max-width: {width}px; width: 100%; height: auto; margin-bottom: 1rem"'
        ' font-family="inherit" font-size="16">',
        f'  <title id="house-title">The rooms of the package on {len(floors)} floors. An arrow'
        " leads from each room to those it uses; what lower rooms use in turn is not drawn again."
        " The table below has every arrow.</title>",
        "  <defs>",
        '    <marker id="house-tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
        ' markerHeight="8" orient="auto">',
        '      <path d="M0 0 L8 4 L0 8 z" fill="currentColor"/>',
        "    </marker>",
        "  </defs>",
        '  <g fill="none" stroke="currentColor" stroke-width="1.5">',
    ]
    for room in rooms:
        thick = ' stroke-width="3"' if not room.floor else ""
        lines.append(
            f'    <rect x="{x[room] - room.width / 2:g}" y="{top[room]}" width="{room.width:g}"'
            f' height="{HEIGHT}" rx="6"{thick}/>'
        )
    lines += [
        "  </g>",
        '  <g fill="currentColor" text-anchor="middle" dominant-baseline="central">',
        *(
            f'    <text x="{x[room]:g}" y="{top[room] + HEIGHT // 2}">{room.room}</text>'
            for room in rooms
        ),
        "  </g>",
        '  <g fill="none" stroke="currentColor" stroke-width="1.5">',
        *(
            f'    <path data-arrow="{room} {used}" d="{_line(ways, (room, used), x, top)}"'
            ' marker-end="url(#house-tip)"/>'
            for room, used in ways
        ),
        "  </g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _line(
    ways: Ways,
    arrow: tuple[str, str],
    x: dict[Stop, float],
    top: dict[Stop, int],
) -> str:
    """Return a smooth line from the lower edge of one room to just above the other."""
    way = ways[arrow]
    start = _port(ways, x, way[0], way[1], leaves=True)
    end = _port(ways, x, way[-1], way[-2], leaves=False)
    at = start, top[way[0]] + HEIGHT
    parts = [f"M{at[0]:g} {at[1]}"]
    for stop in way[1:]:
        to = (end, top[stop] - 2) if stop is way[-1] else (x[stop], top[stop])
        half = (to[1] - at[1]) / 2
        parts.append(f"C{at[0]:g} {at[1] + half:g} {to[0]:g} {to[1] - half:g} {to[0]:g} {to[1]}")
        if stop is not way[-1]:
            parts.append(f"V{top[stop] + HEIGHT}")
            to = to[0], top[stop] + HEIGHT
        at = to
    return " ".join(parts)


def _port(
    ways: Ways,
    x: dict[Stop, float],
    room: Stop,
    other: Stop,
    *,
    leaves: bool,
) -> float:
    """Place a line's end on a room's edge, so that its lines neither meet nor cross."""
    if leaves:
        ends = [way[1] for way in ways.values() if way[0] == room]
    else:
        ends = [way[-2] for way in ways.values() if way[-1] == room]
    order = sorted(ends, key=lambda stop: x[stop])
    share = (order.index(other) + 1) / (len(order) + 1)
    return round(x[room] + (share - 0.5) * room.width)


def main() -> None:
    """Draw the picture again."""
    page = (DOCS / "architecture.md").read_text("utf-8")
    (DOCS / "house.svg").write_text(draw(read_law(page)), "utf-8")
    print("Wrote docs/house.svg.")


if __name__ == "__main__":
    main()
