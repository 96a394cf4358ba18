//! A chart of formulas and measured points, before it is drawn.

use super::PlotError;
use super::axis::Axis;
use super::data::{Figure, Point, Series};
use super::picture::Kind;

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
            y_label: self.labels[1].to_owned(),
            series: self.series,
            ..Figure::default()
        };
        kind.picture(&figure, (&x, &y.map_err(wrong)?))
    }
}
