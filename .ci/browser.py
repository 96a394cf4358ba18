"""A page of ethbus in Chromium without a window, once it has opened: .ci/browser.py PAGE.html PICTURE.png draws it."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZE = (1280, 860)
PATIENCE_S = 60


class Page:
    """Chromium's DevTools protocol over two pipes. Its files are gone with it."""

    def __init__(self, page, dark=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (theirs, mine), (answers, told) = os.pipe(), os.pipe()

        def pipes():
            # Not at once: a number may be that of another end.
            for end, place in ((theirs, 13), (told, 14), (13, 3), (14, 4)):
                os.dup2(end, place)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        options += [f"--user-data-dir={self.folder.name}", f"--window-size={SIZE[0]},{SIZE[1]}"]
        self.browser = subprocess.Popen(
            ["chromium", *options], preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL
        )
        os.close(theirs), os.close(told)
        self.commands, self.answers = os.fdopen(mine, "wb", 0), os.fdopen(answers, "rb", 0)
        self.waiting, self.number, self.session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=SIZE[0], height=SIZE[1], deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=Path(page).resolve().as_uri())
        until = time.monotonic() + PATIENCE_S
        while self.value("window.bus !== undefined && bus.benches().length > 0") is not True:
            assert time.monotonic() < until, f"{page} does not open"
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.kill()
        self.browser.wait()
        self.folder.cleanup()

    def call(self, method, **params):
        """The answer of a method of the protocol."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.waiting:
                octets = self.answers.read(1 << 16)
                assert octets, "Chromium has ended"
                self.waiting += octets
            answer, self.waiting = self.waiting.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        """What an expression of JavaScript comes to, promises kept."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def picture(self):
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


if __name__ == "__main__":
    with Page(sys.argv[1]) as shown:
        time.sleep(0.5)
        Path(sys.argv[2]).write_bytes(shown.picture())
