#!/usr/bin/env python3
"""Draws what docs/pictures.sh has captured: docs/pictures.py SCRATCH OUT LAB"""

import json, sys
from html import escape
from pathlib import Path

scratch, out = Path(sys.argv[1]), Path(sys.argv[2])
FONT = 'font-family="Noto Sans, DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif"'
MONO = 'font-family="DejaVu Sans Mono, Liberation Mono, Menlo, Consolas, monospace"'
STYLE = (
    "<style>.paper{fill:#fff}.ink{fill:#1f2328}.faint{fill:#59636e}.line{stroke:#59636e;fill:none;stroke-width:1.5}"
    ".box{fill:#eef3f9;stroke:#2f6db3}.bus{stroke:#c96a12;stroke-width:6;fill:none}"
    "@media (prefers-color-scheme: dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.faint{fill:#9aa4af}.line{stroke:#9aa4af}"
    ".box{fill:#152033;stroke:#6ea8e8}.bus{stroke:#f0a050}}</style>"
)


def picture(name, width, height, font, body):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'{font} font-size="13">\n{STYLE}\n<rect class="paper" width="{width}" height="{height}"/>\n'
    )
    (out / name).write_text(head + body + "</svg>\n", encoding="utf-8")


def text(x, y, words, kind="ink", anchor="start", more=""):
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}"{more}>{escape(words)}</text>\n'


def rows(lines):
    """Lines of a terminal; the first is what was typed."""
    return [
        text(20, 30 + 18 * number, line, "faint" if number == 0 else "ink", more=' xml:space="preserve"') if line else ""
        for number, line in enumerate(lines)
    ]


def demonstration():
    # The table up to the hints, which name paths of the machine that this ran on.
    shown = (scratch / "demonstration").read_text(encoding="utf-8").split("\nNext:")[0].rstrip("\n").split("\n")
    lines = ["$ sudo ethbus --duration 3s --seed 1", ""] + shown
    picture("demonstration.svg", 720, 44 + 18 * len(lines), MONO, "".join(rows(lines)))


def lab(name):
    labs = json.loads((scratch / "list.json").read_text(encoding="utf-8"))
    labs = labs["labs"] if isinstance(labs, dict) else labs
    stations = next(one for one in labs if one["name"] == name)["stations"]
    wide, body = 800, ""
    step = (wide - 60) / len(stations)
    for number, station in enumerate(stations):
        x = 30 + step * number
        middle = x + (step - 20) / 2
        body += f'<rect class="box" x="{x:.0f}" y="24" width="{step - 20:.0f}" height="128" rx="8"/>\n'
        body += text(middle, 48, f"{station['name']}: a network namespace", anchor="middle")
        body += text(middle, 72, "any program, a stack of its own", "faint", "middle")
        addresses = station.get("addresses") or [address for address in (station.get("ipv4"), station.get("ipv6")) if address]
        for line, address in enumerate(addresses[:2]):
            body += text(middle, 96 + 18 * line, address, "faint", "middle")
        body += text(middle, 140, f"eth0, {station['mac']}", "faint", "middle")
        body += f'<path class="line" d="M{middle:.0f} 152V204"/>\n'
        body += text(middle + 8, 182, "veth pair", "faint")
    body += '<rect class="box" x="30" y="204" width="740" height="116" rx="8"/>\n'
    body += text(50, 228, "the bus's namespace: one socket on all ports")
    body += '<path class="bus" d="M50 258H750"/>\n'
    body += text(50, 286, "the data plane: stamps each frame, runs the medium (defer, collide, jam, back off), and hands")
    body += text(50, 304, "each copy over when its last bit is due; it has no rights and no files but those it was given")
    body += '<path class="line" d="M400 320V352"/>\n'
    body += '<rect class="box" x="30" y="352" width="740" height="44" rx="8"/>\n'
    body += text(400, 379, "the supervisor: makes it all, answers `ethbus stats`, removes it all", anchor="middle")
    picture("lab.svg", wide, 416, FONT, body)


demonstration()
lab(sys.argv[3])
