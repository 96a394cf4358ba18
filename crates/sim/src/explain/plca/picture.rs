//! What was on the line in a stretch of time, as SVG: a row for each node in order of station, time to the right, and
//! above them whose turn it was.

use super::add;
use super::turns::{Stretch, Turns, What};
use crate::words::prose::escape;
use crate::words::units::group;
use medium::BitInstant;

/// Width of the picture, in points.
const WIDTH: f64 = 1_080.0;
/// Where time begins.
const LEFT: f64 = 110.0;
/// Where it ends.
const RIGHT: f64 = 1_060.0;
/// Points above the first row: title, ticks, and the lane of turns.
const HEAD: f64 = 118.0;
/// Points for a row.
const ROW: f64 = 30.0;
/// Points below the last: the legend.
const FOOT: f64 = 48.0;
/// Characters in a line of the title.
const LINE: usize = 125;

const STYLE: &str = ".paper{fill:#ffffff}.ink{fill:#1f2328}.faint{fill:#59636e}.tick{stroke:#d8dde3}\
    .beacon{fill:#8a4fa3}.commit{fill:#c96a12}.frame{fill:#2f6db3}.jam{fill:#b3001b}.waits{fill:#2f6db3;fill-opacity:.18}\
    .fallen{fill:#59636e;fill-opacity:.16}.turn{fill:none;stroke:#8a949e}.mark{fill:none;stroke:#b3001b;stroke-width:2.5}\
    .told{fill:none;stroke:#c96a12;stroke-width:2}\n@media (prefers-color-scheme: dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}\
    .faint{fill:#9aa4af}.tick{stroke:#2a313a}.beacon{fill:#c48fdd}.commit{fill:#f0a050}.frame{fill:#6ea8e8}.jam{fill:#ff7b88}\
    .waits{fill:#6ea8e8}.mark{stroke:#ff7b88}.told{stroke:#f0a050}}";

/// The picture.
pub fn draw(turns: &Turns, title: &str) -> String {
    let height = HEAD + ROW * turns.names.len() as f64 + FOOT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH:.0} \
         {height:.0}\" font-family=\"Noto Sans, DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif\" \
         font-size=\"13\">\n<style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH:.0}\" height=\"{height:.0}\"/>\n"
    );
    for (number, line) in lines(title).iter().take(2).enumerate() {
        let y = 24.0 + 18.0 * number as f64;
        add(
            &mut text,
            format_args!("<text class=\"ink\" x=\"16\" y=\"{y:.0}\" font-size=\"15\">{}</text>\n", escape(line)),
        );
    }
    let axis = Axis { from: turns.from, span: turns.to.since(turns.from).get().max(1) as f64 };
    text += &ticks(&axis, turns, height);
    text += &lane(&axis, turns);
    for (row, name) in turns.names.iter().enumerate() {
        let y = HEAD + ROW * row as f64;
        let id = match turns.ids[row] {
            255 => "no id".to_owned(),
            id => format!("id {id}"),
        };
        add(
            &mut text,
            format_args!(
                "<text class=\"ink\" x=\"16\" y=\"{:.0}\">{} <tspan class=\"faint\" font-size=\"11\">{id}</tspan></text>\n",
                y + 19.0,
                escape(name)
            ),
        );
    }
    for what in [What::Fallen, What::Waits, What::Beacon, What::Commit, What::Frame, What::Jam] {
        for one in turns.stretches.iter().filter(|one| one.what == what) {
            text += &stretch(&axis, turns, one);
        }
    }
    for mark in &turns.marks {
        let (x, y) = (axis.x(mark.at), HEAD + ROW * mark.row as f64 + ROW / 2.0);
        let at = mark.at.get();
        if mark.logical {
            add(
                &mut text,
                format_args!("<circle class=\"told\" data-at=\"{at}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>\n"),
            );
        } else {
            text += &cross(x, y, at);
        }
    }
    text + &legend(height - FOOT + 28.0) + "</svg>\n"
}

/// Time, to the right.
struct Axis {
    from: BitInstant,
    span: f64,
}

impl Axis {
    fn x(&self, at: BitInstant) -> f64 {
        LEFT + (RIGHT - LEFT) * at.since(self.from).get() as f64 / self.span
    }
}

fn ticks(axis: &Axis, turns: &Turns, height: f64) -> String {
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit: u64| digit * 10_u64.pow(power)));
    let step = steps.into_iter().find(|&step| axis.span / step as f64 <= 10.0).unwrap_or(1);
    let mut text = String::new();
    let first = turns.from.get().next_multiple_of(step);
    for at in (first..=turns.to.get()).step_by(step as usize) {
        let x = axis.x(BitInstant::new(at));
        add(
            &mut text,
            format_args!(
                "<line class=\"tick\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"74\" y2=\"{:.0}\"/>\n\
             <text class=\"faint\" x=\"{x:.1}\" y=\"68\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n",
                height - FOOT,
                group(at)
            ),
        );
    }
    text + "<text class=\"faint\" x=\"16\" y=\"68\" font-size=\"11\">t in BT</text>\n"
}

/// Whose turn it is, as the coordinator counts.
fn lane(axis: &Axis, turns: &Turns) -> String {
    let mut text = "<text class=\"faint\" x=\"16\" y=\"98\">turn of id</text>\n".to_owned();
    for turn in &turns.turns {
        let (x, end) = (axis.x(turn.from), axis.x(turn.to));
        // Too narrow to be seen.
        if end - x < 1.5 {
            continue;
        }
        add(
            &mut text,
            format_args!(
                "<rect class=\"turn\" data-id=\"{}\" data-from=\"{}\" data-to=\"{}\" x=\"{x:.1}\" y=\"82\" width=\"{:.1}\" height=\"22\"/>\n",
                turn.id,
                turn.from.get(),
                turn.to.get(),
                end - x
            ),
        );
        if end - x > 12.0 {
            let middle = (x + end) / 2.0;
            add(
                &mut text,
                format_args!(
                    "<text class=\"ink\" x=\"{middle:.1}\" y=\"98\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n",
                    turn.id
                ),
            );
        }
    }
    text
}

fn stretch(axis: &Axis, turns: &Turns, one: &Stretch) -> String {
    let (x, end) = (axis.x(one.from), axis.x(one.to));
    let (class, inset) = match one.what {
        What::Beacon => ("beacon", 5.0),
        What::Commit => ("commit", 5.0),
        What::Frame => ("frame", 5.0),
        What::Jam => ("jam", 5.0),
        What::Waits => ("waits", 9.0),
        What::Fallen => ("fallen", 0.0),
    };
    let frame =
        one.frame.map_or(String::new(), |frame| format!("{}#{}", turns.names[frame.station.index()], frame.serial));
    format!(
        "<rect class=\"{class}\" data-from=\"{}\" data-to=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
         <title>{} {class}, t = {} to {} BT</title></rect>\n",
        one.from.get(),
        one.to.get(),
        HEAD + ROW * one.row as f64 + inset,
        (end - x).max(1.0),
        ROW - 2.0 * inset,
        escape(&frame),
        group(one.from.get()),
        group(one.to.get())
    )
}

fn cross(x: f64, y: f64, at: u64) -> String {
    let (left, right, up, down) = (x - 5.0, x + 5.0, y - 5.0, y + 5.0);
    format!(
        "<path class=\"mark\" data-at=\"{at}\" d=\"M{left:.1} {up:.1}L{right:.1} {down:.1}M{left:.1} {down:.1}L{right:.1} {up:.1}\"/>\n"
    )
}

fn legend(y: f64) -> String {
    let mut text = String::new();
    let mut x = LEFT;
    let words = |text: &mut String, x: &mut f64, words: &str| {
        add(text, format_args!("<text class=\"faint\" x=\"{:.0}\" y=\"{y:.0}\">{words}</text>\n", *x + 20.0));
        let capitals = words.chars().filter(char::is_ascii_uppercase).count();
        *x += 34.0 + 6.8 * words.len() as f64 + 3.5 * capitals as f64;
    };
    let parts = [
        ("beacon", "BEACON"),
        ("commit", "COMMIT"),
        ("frame", "frame"),
        ("jam", "jam"),
        ("waits", "waits at the head"),
        ("fallen", "plain CSMA/CD"),
    ];
    for (class, name) in parts {
        add(
            &mut text,
            format_args!("<rect class=\"{class}\" x=\"{x:.0}\" y=\"{:.0}\" width=\"14\" height=\"12\"/>\n", y - 10.0),
        );
        words(&mut text, &mut x, name);
    }
    add(&mut text, format_args!("<circle class=\"told\" cx=\"{:.0}\" cy=\"{:.0}\" r=\"5\"/>\n", x + 8.0, y - 4.0));
    words(&mut text, &mut x, "told to wait for its turn");
    let (left, middle) = (x + 8.0, y - 4.0);
    add(
        &mut text,
        format_args!("<path class=\"mark\" d=\"M{:.0} {:.0}l10 10m-10 0l10 -10\"/>\n", left - 5.0, middle - 5.0),
    );
    words(&mut text, &mut x, "collision on the line");
    text
}

/// A text in lines that the picture has room for.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && last.chars().count() + word.chars().count() >= LINE {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
