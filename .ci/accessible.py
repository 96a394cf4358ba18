"""What axe-core finds serious or critical on opened pages, in light and in dark: .ci/accessible.py AXE.MIN.JS PAGE…"""

import sys
from pathlib import Path

from browser import Page

RUN = """axe.run(document, { resultTypes: ["violations"] }).then((told) =>
  told.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => node.html) })))"""
# What is looked at: the page as it opens, the life of a frame, the lessons.
STEPS = ["1", "bus.benches()[0].life('st1#1')", "document.getElementById('show-lessons').click()"]

axe = Path(sys.argv[1]).read_text(encoding="utf-8")
wrong = 0
for page in map(Path, sys.argv[2:]):
    for dark in (False, True):
        with Page(page, dark) as shown:
            assert shown.value("matchMedia('(prefers-color-scheme: dark)').matches") == dark, "the browser takes no setting"
            shown.value(axe + ";1")
            for step in STEPS:
                shown.value(f"{step};1")
                for one in shown.value(RUN):
                    is_wrong = one["impact"] in ("serious", "critical")
                    wrong += is_wrong
                    print(f"    {page.name}, {'dark' if dark else 'light'}, {step}: {one['impact']}: {one['id']}, {len(one['nodes'])} times")
                    if is_wrong:
                        print("        " + one["nodes"][0][:200])
sys.exit(1 if wrong else 0)
