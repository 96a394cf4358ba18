//! Chromium without a window, controlled over pipes (Chrome DevTools Protocol), as a user would.

use super::process::{Running, program, run};
use super::{PATIENCE, is_installed};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Whether Chromium is installed.
pub fn is_there() -> bool {
    is_installed("chromium")
}

/// A page in a browser that ends with it.
#[derive(Debug)]
pub struct Page {
    commands: File,
    answers: Receiver<Value>,
    session: Option<String>,
    number: u64,
    _browser: Running,
}

impl Page {
    /// Opens a file, in a window of 1200 by 900; `folder` is for the browser's own files.
    pub fn open(file: &Path, folder: &Path) -> Page {
        let at = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
        let [commands, answers] = ["commands", "answers"].map(at);
        run(program("mkfifo", [&commands, &answers])).succeeded();
        let script = "in=$1; out=$2; shift 2; exec chromium \"$@\" 3<\"$in\" 4>\"$out\"";
        let profile = format!("--user-data-dir={}", at("profile"));
        let options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", &profile];
        let all = ["-c", script, "sh", &commands, &answers, "--remote-debugging-pipe"];
        let browser = Running::start(program("sh", all.iter().chain(&options)), "");
        let commands = OpenOptions::new().write(true).open(commands).expect("own pipe");
        let answers = BufReader::new(File::open(answers).expect("own pipe"));
        let (sender, receiver) = channel();
        // The thread ends with the browser, or when the listener is gone.
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut page = Page { commands, answers: receiver, session: None, number: 0, _browser: browser };
        let target = page.call("Target.createTarget", json!({ "url": format!("file://{}", file.display()) }));
        let target = target["targetId"].as_str().expect("a target").to_owned();
        let session = page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        page.session = Some(session["sessionId"].as_str().expect("a session").to_owned());
        page
    }

    /// Calls a method of the protocol, and gives its answer.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("the browser reads");
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression of JavaScript.
    pub fn value(&mut self, expression: &str) -> Value {
        let told = self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(told["exceptionDetails"].is_null(), "{expression}: {told}");
        told["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.value(expression) != true {
            assert!(Instant::now() < until, "never: {expression}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        // A text that is no key name is typed as it is.
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "text": text }));
        }
    }

    /// Does something with the mouse at a place of the window: `mouseMoved`, `mousePressed`, `mouseReleased`, `mouseWheel`.
    pub fn mouse(&mut self, kind: &str, at: (f64, f64), wheel: f64) {
        let (button, count) = if kind == "mouseMoved" || kind == "mouseWheel" { ("none", 0) } else { ("left", 1) };
        let place = json!({ "type": kind, "x": at.0, "y": at.1, "button": button, "clickCount": count, "deltaX": 0, "deltaY": wheel });
        self.call("Input.dispatchMouseEvent", place);
    }

    /// Presses and releases the left button.
    pub fn click(&mut self, at: (f64, f64)) {
        ["mouseMoved", "mousePressed", "mouseReleased"].into_iter().for_each(|kind| self.mouse(kind, at, 0.0));
    }
}
