//! A table's rows as series of points: means over seeds, each with the half-width of its 95 % interval.

use super::PlotError;
use super::labels::{self, Label, common, label};
use sim::figures::intervals::half_width;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// What is to be drawn.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Column of the x axis.
    pub x: String,
    /// Columns of the y axis.
    pub y: Vec<String>,
    /// Column that tells lines apart.
    pub by: Option<String>,
    /// Columns and the value that rows must have there.
    pub only: Vec<(String, String)>,
}

/// A figure's content.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The x axis's label.
    pub x_label: String,
    /// Names along the x axis, if its values are no numbers: then x counts them from 0.
    pub names: Option<Vec<String>>,
    /// The y axis's label.
    pub y_label: String,
    /// What the legend is of.
    pub legend: Option<String>,
    /// The lines.
    pub series: Vec<Series>,
    /// How points and bands came about.
    pub note: Vec<String>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by rising x.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean over seeds.
    pub mean: f64,
    /// Half of its 95 % interval, if there is one.
    pub half: Option<f64>,
    /// How many seeds the mean is of.
    pub seeds: usize,
}

/// A table that was read.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    names: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl Table {
    /// Reads a table of `ethbus sweep`.
    ///
    /// # Errors
    /// It cannot be read, or is no CSV.
    pub fn read(path: &Path) -> Result<Table, PlotError> {
        let wrong = |source| PlotError::Read { path: path.to_owned(), source };
        let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
        let names = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
        let rows = reader.into_records().collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Table { path: path.to_owned(), names, rows })
    }

    fn column(&self, option: &str, name: &str) -> Result<usize, PlotError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            let names = self.names.join(", ");
            PlotError::option(option, format!("{} has no column `{name}`: it has {names}", self.path.display()))
        })
    }

    /// The number in a field; none if it is empty or no finite number.
    fn number(&self, row: &csv::StringRecord, column: usize) -> Result<Option<f64>, PlotError> {
        let value = &row[column];
        if value.is_empty() {
            return Ok(None);
        }
        let number: f64 = value.parse().map_err(|_| PlotError::Field {
            path: self.path.clone(),
            line: row.position().map_or(0, csv::Position::line),
            column: self.names[column].clone(),
            value: value.to_owned(),
        })?;
        Ok(Some(number).filter(|number| number.is_finite()))
    }

    /// The rows that are wanted.
    fn only(&mut self, only: &[(String, String)]) -> Result<(), PlotError> {
        for (name, value) in only {
            let column = self.column("--where", name)?;
            let there = distinct(self.rows.iter().map(|row| &row[column])).join(", ");
            self.rows.retain(|row| &row[column] == value.as_str());
            if self.rows.is_empty() {
                return Err(PlotError::option("--where", format!("no row has {name} = {value}: there are {there}")));
            }
        }
        if self.rows.is_empty() {
            return Err(PlotError::option("--x", format!("{} has no rows", self.path.display())));
        }
        Ok(())
    }

    /// A mean over different media means nothing: every key must be along x, in the legend, or the same in all rows.
    fn check_keys(&self, wanted: &Wanted) -> Result<(), PlotError> {
        let is_key = |name: &String| name.contains('.') || name == "stations";
        for (column, name) in self.names.iter().enumerate().filter(|(_, name)| is_key(name)) {
            if *name == wanted.x || wanted.by.as_ref() == Some(name) {
                continue;
            }
            let values = distinct(self.rows.iter().map(|row| &row[column]));
            if values.len() > 1 {
                let (values, first) = (values.join(", "), values[0]);
                let what = format!(
                    "rows differ in {name} too ({values}): give it to --x or --by, or choose with `--where {name}={first}`"
                );
                return Err(PlotError::option("--x", what));
            }
        }
        Ok(())
    }

    /// The figure that is wanted.
    ///
    /// # Errors
    /// Columns that there are not, units that do not go together, keys that would be mixed, fields that are no numbers.
    pub fn figure(mut self, wanted: &Wanted) -> Result<Figure, PlotError> {
        let x = self.column("--x", &wanted.x)?;
        let by = wanted.by.as_ref().map(|by| self.column("--by", by)).transpose()?;
        let y: Vec<usize> = wanted.y.iter().map(|name| self.column("--y", name)).collect::<Result<_, _>>()?;
        self.only(&wanted.only)?;
        self.check_keys(wanted)?;
        let labels: Vec<Label> = wanted.y.iter().map(|name| label(name)).collect();
        if let Some((index, other)) = labels.iter().enumerate().find(|(_, it)| it.unit != labels[0].unit) {
            let of = |label: &Label| if label.unit.is_empty() { "none" } else { label.unit };
            let (one, another) = (of(&labels[0]), of(other));
            let what =
                format!("{} has unit {one} and {} has {another}: draw a figure of each", wanted.y[0], wanted.y[index]);
            return Err(PlotError::option("--y", what));
        }
        let texts = distinct(self.rows.iter().map(|row| &row[x]));
        let (places, x_label, names) = match labels::numbers(&wanted.x, &texts) {
            Some((numbers, words)) => (numbers, words, None),
            None => {
                let names = texts.iter().map(|&text| text.to_owned()).collect();
                ((0..texts.len()).map(|place| place as f64).collect(), label(&wanted.x).words, Some(names))
            }
        };
        let place: BTreeMap<&str, f64> = texts.iter().copied().zip(places).collect();
        let groups: Vec<Option<&str>> = match by {
            Some(by) => distinct(self.rows.iter().map(|row| &row[by])).into_iter().map(Some).collect(),
            None => vec![None],
        };
        let mut series = Vec::new();
        for (&column, label) in y.iter().zip(&labels) {
            let own = self.names.iter().position(|name| *name == format!("ci95_{}", self.names[column]));
            for group in &groups {
                let rows =
                    self.rows.iter().filter(|row| group.is_none_or(|group| by.is_some_and(|by| &row[by] == group)));
                let name = match group {
                    Some(group) if y.len() > 1 => format!("{}, {group}", label.words),
                    Some(group) => (*group).to_owned(),
                    None => label.words.clone(),
                };
                series.push(Series { name, points: self.points(rows, |row| place[&row[x]], column, own)? });
            }
        }
        let title = wanted.by.as_ref().filter(|_| y.len() == 1).map(|by| title(by, &groups));
        let note = note(&series, names.is_some());
        Ok(Figure { x_label, names, y_label: common(&labels).text(), legend: title, note, series })
    }

    /// Means of the column `y` at each x, with the half-width over seeds, or the run's `own` if there is one seed.
    fn points<'a>(
        &'a self,
        rows: impl Iterator<Item = &'a csv::StringRecord>,
        place: impl Fn(&csv::StringRecord) -> f64,
        y: usize,
        own: Option<usize>,
    ) -> Result<Vec<Point>, PlotError> {
        let mut samples: Vec<(f64, Vec<f64>, Option<f64>)> = Vec::new();
        for row in rows {
            let Some(number) = self.number(row, y)? else { continue };
            let (x, half) = (place(row), own.map_or(Ok(None), |own| self.number(row, own))?);
            match samples.iter_mut().find(|(other, _, _)| *other == x) {
                Some((_, numbers, _)) => numbers.push(number),
                None => samples.push((x, vec![number], half)),
            }
        }
        samples.sort_by(|one, other| one.0.total_cmp(&other.0));
        let point = |(x, numbers, own): (f64, Vec<f64>, Option<f64>)| Point {
            x,
            seeds: numbers.len(),
            mean: numbers.iter().sum::<f64>() / numbers.len() as f64,
            half: if numbers.len() > 1 { half_width(numbers.iter().copied()) } else { own },
        };
        Ok(samples.into_iter().map(point).collect())
    }
}

/// What a legend of `by` with these values is of.
fn title(by: &str, values: &[Option<&str>]) -> String {
    let values: Vec<&str> = values.iter().flatten().copied().collect();
    let plain = values.iter().all(|value| value.parse::<f64>().is_ok());
    labels::numbers(by, &values).filter(|_| plain).map_or_else(|| label(by).words, |(_, words)| words)
}

/// How points and bands came about.
fn note(series: &[Series], by_name: bool) -> Vec<String> {
    let points = || series.iter().flat_map(|series| &series.points);
    let seeds = || points().map(|point| point.seeds);
    let (least, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let mut lines = vec![match (least, most) {
        (_, 0 | 1) => "one seed".to_owned(),
        (least, most) if least == most => format!("mean of {most} seeds"),
        (least, most) => format!("mean of {least} to {most} seeds"),
    }];
    if points().any(|point| point.half.is_some()) {
        let shape = if by_name || series.iter().all(|series| series.points.len() < 2) { "bar" } else { "band" };
        let method = if most > 1 { " confidence" } else { ", batch means" };
        lines.push(format!("{shape}: 95 %{method}"));
    }
    lines
}

/// Each text once, in the order in which they first come.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str, x: &str, y: &str, by: Option<&str>, only: &[(&str, &str)]) -> Result<Figure, String> {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("runs.csv");
        std::fs::write(&path, text).expect("own folder");
        let wanted = Wanted {
            x: x.to_owned(),
            y: y.split(',').map(str::to_owned).collect(),
            by: by.map(str::to_owned),
            only: only.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        Table::read(&path).and_then(|table| table.figure(&wanted)).map_err(|error| error.to_string())
    }

    const TABLE: &str = "run,medium.rate,seed,stations,fairness,same_winner,access_delay_mean_bt,ci95_fairness\n\
        1,10M,1,4,0.5,0.1,9,0.25\n2,10M,2,4,0.7,0.1,9,\n3,1M,1,2,0.9,0.1,9,0.125\n4,10M,1,2,1,0.1,9,0.5\n";

    /// The half-width of two samples is t(0.975, 1) = 12.706 times their distance by two (any table of Student's t).
    #[test]
    fn points_are_means_over_seeds_with_students_interval_or_a_single_runs_own() {
        let figure = figure(TABLE, "stations", "fairness", Some("medium.rate"), &[]).expect("a figure");
        let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["10M", "1M"]);
        let points = &figure.series[0].points;
        assert_eq!((points[0].x, points[0].mean, points[0].half, points[0].seeds), (2.0, 1.0, Some(0.5), 1));
        assert!((points[1].mean - 0.6).abs() < 1e-12 && (points[1].half.expect("two seeds") - 1.2706).abs() < 1e-4);
        assert_eq!(figure.series[1].points.len(), 1);
        assert_eq!(figure.note, ["mean of 1 to 2 seeds", "band: 95 % confidence"]);
    }

    #[test]
    fn rows_of_different_media_are_never_mixed() {
        let error = figure(TABLE, "stations", "fairness", None, &[]).expect_err("two rates");
        assert!(
            error.contains("medium.rate") && error.contains("10M, 1M") && error.contains("--where medium.rate=10M"),
            "{error}"
        );
        figure(TABLE, "stations", "fairness", None, &[("medium.rate", "10M")]).expect("one rate");
    }

    #[test]
    fn what_makes_no_figure_is_named() {
        let cases = [
            ("station", "fairness", None, &[][..], "no column `station`"),
            ("stations", "fairnes", None, &[], "no column `fairnes`"),
            ("stations", "fairness", Some("rate"), &[], "no column `rate`"),
            ("stations", "same_winner,access_delay_mean_bt", Some("medium.rate"), &[], "has unit part of frames and"),
            ("stations", "fairness", None, &[("medium.rate", "2M")], "there are 10M, 1M"),
            ("seed", "medium.rate", None, &[("stations", "4")], "line 2: `10M` in column medium.rate is no number"),
        ];
        for (x, y, by, only, word) in cases {
            let error = figure(TABLE, x, y, by, only).expect_err(word);
            assert!(error.contains(word), "{error}");
        }
        let error = figure("run,stations,fairness\n", "stations", "fairness", None, &[]).expect_err("no rows");
        assert!(error.contains("no rows"), "{error}");
    }
}
