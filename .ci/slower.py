#!/usr/bin/env python3
"""Compares what criterion measured with a saved baseline: medians, and which of them grew. Call: slower.py HOME BASELINE MOST"""

import json
import pathlib
import sys


def median(folder):
    return json.loads((folder / "estimates.json").read_text())["median"]["point_estimate"]


def main(home, baseline, most):
    ratios = []
    for new in sorted(pathlib.Path(home).glob("**/new")):
        then = new.parent / baseline
        if (then / "estimates.json").is_file() and (new / "estimates.json").is_file():
            ratios.append((median(new) / median(then), str(new.parent.relative_to(home))))
    if not ratios:
        sys.exit(f"{home}: no bench has the baseline {baseline}")
    ratios.sort(reverse=True)
    for ratio, name in ratios[:5]:
        print(f"    {ratio:.2f} times as long: {name}")
    slower = [name for ratio, name in ratios if ratio > most]
    print(f"    {len(ratios)} benches, {len(slower)} take more than {most} times as long as at {baseline}")
    sys.exit(1 if slower else 0)


main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
