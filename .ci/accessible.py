"""What axe-core finds serious or critical on pages, in light and in dark: .ci/accessible.py AXE.MIN.JS PAGE…"""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = """axe.run(document, { resultTypes: ["violations"] }).then((told) => {
  const found = told.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => node.html) }));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.innerHTML = "<pre></pre>";
  document.querySelector("pre").textContent = JSON.stringify({ dark, found });
});"""


def found(axe, page, dark):
    """The violations on a page, in a browser whose reader prefers dark or light."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "page.html"
        script = axe.replace("</script", "<\\/script") + ";" + RUN
        copy.write_text(page.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
        options += [f"--user-data-dir={folder}/chromium", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
        options += ["--virtual-time-budget=60000", "--window-size=1200,900", "--dump-dom", f"file://{copy}"]
        shown = subprocess.run(["chromium", *options], capture_output=True, text=True, timeout=300).stdout
    told = json.loads(html.unescape(re.search("<pre>(.*?)</pre>", shown, re.DOTALL)[1]))
    assert told["dark"] == dark, "the browser takes no setting"
    return told["found"]


axe = Path(sys.argv[1]).read_text(encoding="utf-8")
wrong = 0
for page in map(Path, sys.argv[2:]):
    for dark in (False, True):
        for one in found(axe, page, dark):
            is_wrong = one["impact"] in ("serious", "critical")
            wrong += is_wrong
            print(f"    {page.name}, {'dark' if dark else 'light'}: {one['impact']}: {one['id']}, {len(one['nodes'])} times")
            if is_wrong:
                print("        " + one["nodes"][0][:200])
sys.exit(1 if wrong else 0)
