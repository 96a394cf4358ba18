//! Pages of HTML that open from disk: one file with everything in it, and no address. All of ours have the same frame and
//! style; they follow the reader's light or dark setting. A [`Page`] is sections of text, formulas, figures, tables and
//! commands; on paper each begins on a page of its own. Knows nothing of what the sections are about.

use super::plot::PlotError;
use super::plot::axis::Axis;
use super::plot::data::{Figure, Point, Series};
use super::plot::picture::Kind;
use super::report::pack::base64;
use sim::files::output::{self, HTML, HTML_BEGINNING};
use sim::words::prose::escape;
use std::fmt::Write as _;
use std::path::Path;

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// The text before the sections, a paragraph each.
    pub lead: Vec<String>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in addresses: letters, digits and hyphens.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where what it says comes from.
    pub source: String,
    /// What it has, in order.
    pub parts: Vec<Part>,
}

/// What a section has.
#[derive(Clone, Debug)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// A formula, as plain text, one a line.
    Formula(String),
    /// A picture, and what it shows.
    Figure {
        /// The picture as SVG.
        svg: String,
        /// What it shows.
        caption: String,
    },
    /// A picture that has a style of its own, and what it shows.
    Picture {
        /// The picture as SVG, which follows light and dark by itself.
        svg: String,
        /// What it shows.
        caption: String,
    },
    /// A table: heads, then rows.
    Table {
        /// What the columns are.
        head: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
    /// Commands that repeat what is shown, one a line.
    Commands(Vec<String>),
}

const STYLE: &str = include_str!("page.css");

/// The whole of a page: what every one of ours begins and ends with, around `body`; `style` is what this one has beside.
pub fn whole(title: &str, style: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "{HTML_BEGINNING}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut html = String::new();
        self.lead.iter().for_each(|text| paragraph(&mut html, text));
        html += "<nav><ol>\n";
        for section in &self.sections {
            let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", escape(&section.id), escape(&section.title));
        }
        html += "</ol></nav>\n";
        self.sections.iter().for_each(|section| section.write(&mut html));
        whole(&self.title, "", &html)
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    /// There is something else under this name, the disk is full, or the like.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        Ok(output::replace(path, HTML, self.html().as_bytes())?)
    }
}

impl Section {
    fn write(&self, html: &mut String) {
        let (id, title, source) = (escape(&self.id), escape(&self.title), escape(&self.source));
        let _ = writeln!(
            html,
            "<section id=\"{id}\" class=\"chapter\">\n<h2>{title}</h2>\n<p class=\"faint\">{source}</p>"
        );
        self.parts.iter().for_each(|part| part.write(html));
        *html += "</section>\n";
    }
}

impl Part {
    fn write(&self, html: &mut String) {
        match self {
            Part::Text(text) => paragraph(html, text),
            Part::Formula(text) => {
                let _ = writeln!(html, "<pre class=\"formula\">{}</pre>", escape(text));
            }
            Part::Figure { svg, caption } => {
                let svg = svg.trim_start_matches(|it| it != '<');
                let _ = writeln!(html, "<figure>\n{svg}\n<figcaption>{}</figcaption>\n</figure>", escape(caption));
            }
            Part::Picture { svg, caption } => {
                let (data, caption) = (base64(svg.as_bytes()), escape(caption));
                let _ = writeln!(
                    html,
                    "<figure>\n<img alt=\"{caption}\" src=\"data:image/svg+xml;base64,{data}\">\n<figcaption>{caption}</figcaption>\n</figure>"
                );
            }
            Part::Table { head, rows } => table(html, head, rows),
            Part::Commands(commands) => {
                let lines: Vec<String> = commands.iter().map(|command| escape(command)).collect();
                let _ = writeln!(html, "<pre>{}</pre>", lines.join("\n"));
            }
        }
    }
}

fn paragraph(html: &mut String, text: &str) {
    let _ = writeln!(html, "<p>{}</p>", escape(text));
}

fn table(html: &mut String, head: &[String], rows: &[Vec<String>]) {
    let row = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.iter().map(|cells| row(cells, "td")).collect();
    let _ = write!(html, "<table>\n<thead>{}</thead>\n<tbody>\n{body}</tbody>\n</table>\n", row(head, "th"));
}

/// A chart before it is drawn.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What is along the axes.
    pub labels: [&'static str; 2],
    /// Which axes are logarithmic.
    pub log: [bool; 2],
    /// The lines.
    pub series: Vec<Series>,
    /// The ends of the y axis, if they do not follow from the points.
    pub y_ends: Option<(f64, f64)>,
}

impl Chart {
    /// Adds a line without points of its own: a formula.
    pub fn curve(mut self, name: impl Into<String>, places: impl IntoIterator<Item = (f64, f64)>) -> Chart {
        let point = |(x, mean)| Point { x, mean, half: None, below: None, seeds: 1 };
        let points = places.into_iter().map(point).collect();
        self.series.push(Series { name: name.into(), points, is_curve: true });
        self
    }

    /// Adds a line.
    pub fn with(mut self, series: Series) -> Chart {
        self.series.push(series);
        self
    }

    /// Adds measured points with half-widths of their intervals.
    pub fn points(mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Chart {
        let point = |(x, mean, half)| Point { x, mean, half: Some(half), below: None, seeds: 1 };
        let points = points.into_iter().map(point).collect();
        self.series.push(Series { name: name.into(), points, is_curve: false });
        self
    }

    /// The chart as part of a section.
    ///
    /// # Errors
    /// There is nothing to draw, or it cannot be drawn.
    pub fn figure(self, caption: impl Into<String>) -> Result<Part, PlotError> {
        let svg = String::from_utf8(self.picture(Kind::Svg)?);
        let svg = svg.map_err(|_| PlotError::Draw("the picture is no text".to_owned()))?;
        Ok(Part::Figure { svg, caption: caption.into() })
    }

    /// The chart as a picture.
    ///
    /// # Errors
    /// There is nothing to draw, or it cannot be drawn.
    pub fn picture(self, kind: Kind) -> Result<Vec<u8>, PlotError> {
        let wrong = |what| PlotError::Draw(what);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let places: Vec<f64> = points().map(|point| point.x).collect();
        let ends = points().flat_map(|point| {
            let (low, high) = point.ends().unwrap_or((point.mean, point.mean));
            [low, high]
        });
        let ends: Vec<f64> = ends.filter(|&end| !self.log[1] || end > 0.0).collect();
        let x = Axis::along(&places, self.log[0]).map_err(wrong)?;
        let y = match self.y_ends {
            Some(ends) => Axis::between(ends, self.log[1]),
            None => Axis::up(&ends, self.log[1]),
        };
        let figure = Figure {
            x_label: self.labels[0].to_owned(),
            names: None,
            y_label: self.labels[1].to_owned(),
            title: None,
            legend: None,
            series: self.series,
            marks: Vec::new(),
            note: Vec::new(),
        };
        kind.picture(&figure, (&x, &y.map_err(wrong)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_means_itself_and_nothing_is_fetched() {
        let section = Section {
            id: "one".to_owned(),
            title: "A < B & \"C\"".to_owned(),
            source: "<script>".to_owned(),
            parts: vec![
                Part::Text("a > b".to_owned()),
                Part::Table { head: vec!["x".to_owned()], rows: vec![vec!["<1>".to_owned()]] },
                Part::Commands(vec!["ethbus sim".to_owned(), "ethbus theory".to_owned()]),
                Chart { labels: ["G", "S"], ..Chart::default() }
                    .curve("formula", [(0.0, 0.0), (1.0, 0.4)])
                    .points("simulation", [(0.5, 0.2, 0.01), (0.7, 0.3, 0.01)])
                    .figure("S over G")
                    .expect("two lines"),
            ],
        };
        let html = Page { title: "T".to_owned(), lead: vec!["l".to_owned()], sections: vec![section] }.html();
        assert!(html.starts_with(HTML_BEGINNING) && html.contains("A &lt; B &amp; &quot;C&quot;"));
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>") && !html.contains("src="));
        assert!(
            html.contains("ethbus sim\nethbus theory") && html.contains("<svg") && html.contains("<td>&lt;1&gt;</td>")
        );
    }
}
