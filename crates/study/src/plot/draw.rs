//! A figure drawn: axes, a line and a band for each series, and the legend at the side.
//!
//! Series differ in colour (Okabe and Ito's, which colour-blind people tell apart), in the shape of their points and in
//! the dashes of their lines, so that none is needed alone.

use super::axis::Axis;
use super::data::{Figure, Point};
use super::looks::Looks;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// What text is set in: the first is drawn into bitmaps and what places are worked out with; what shows an SVG may not
/// have it.
pub const FONT: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// Height of [`FONT`]'s first, ascent and descent, in its em.
pub const FONT_HEIGHT: f64 = 1.362;

const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
/// From dark to light, equally far apart for every eye, without what is too light on paper: four places of viridis.
const SHADES: [RGBColor; 4] =
    [RGBColor(68, 1, 84), RGBColor(59, 82, 139), RGBColor(33, 145, 140), RGBColor(94, 201, 98)];
const GRID: RGBColor = RGBColor(225, 225, 225);
const AXIS: RGBColor = RGBColor(70, 70, 70);
const MARK: RGBColor = RGBColor(179, 0, 27);

/// Sizes in points, before they are scaled.
const TEXT: u32 = 13;
const LINE: u32 = 30;
const MARGIN: u32 = 12;
const GAP: u32 = 8;
const SAMPLE: u32 = 38;
/// Names at the ends of lines are closer than those of a legend.
const ROW: u32 = 14;

type Chart<'a, DB> = ChartContext<'a, DB, Cartesian2d<Coordinate, Coordinate>>;
/// An axis as Plotters wants it; its ticks are its own.
struct Coordinate(Axis);

impl Ranged for Coordinate {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        let part = (place - self.0.low) / (self.0.high - self.0.low);
        limit.0 + (f64::from(limit.1 - limit.0) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.0.ticks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.0.low..self.0.high
    }
}

impl ValueFormatter<f64> for Coordinate {
    fn format_ext(&self, place: &f64) -> String {
        let tick = self.0.ticks.iter().find(|(tick, _)| tick == place);
        tick.map_or_else(String::new, |(_, text)| text.clone())
    }
}

type Area<DB> = DrawingArea<DB, Shift>;
type Pixel = (i32, i32);

/// Draws `figure` onto `area`; sizes are `scale` times what they are in points.
///
/// # Errors
/// The backend failed.
pub fn draw<DB: DrawingBackend>(
    area: &Area<DB>,
    figure: &Figure,
    (x, y): (&Axis, &Axis),
    scale: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let pen = Pen { scale, area };
    area.fill(&WHITE)?;
    let legend = pen.legend_width(figure)?;
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width.saturating_sub(legend));
    let chart = pen.axes(&left, figure, x, y)?;
    let count = figure.series.len();
    let lines: Vec<Line> = (figure.series.iter().enumerate())
        .map(|(number, series)| {
            // Where x is a name, series are side by side.
            let shift = if figure.names.is_some() { 0.1 * (number as f64 - (count - 1) as f64 / 2.0) } else { 0.0 };
            let pixel = |point: &Point, value: f64| chart.backend_coord(&(x.place(point.x) + shift, y.place(value)));
            let within = |value: f64| y.place(value).clamp(y.low, y.high);
            let ends = |point: &Point| {
                let pixel = |value: f64| chart.backend_coord(&(x.place(point.x) + shift, within(value)));
                point.ends().map(|(low, high)| (pixel(low), pixel(high)))
            };
            let points: Vec<Pixel> = series.points.iter().map(|point| pixel(point, point.mean)).collect();
            let is_line = figure.names.is_none() && points.len() > 1;
            let ends = series.points.iter().map(ends).collect();
            Line { style: Style::of(figure, number), points, ends, is_line, is_marked: !series.is_curve }
        })
        .collect();
    let mark = |at: &f64| [y.low, y.high].map(|end| chart.backend_coord(&(x.place(*at), end))).to_vec();
    figure.marks.iter().try_for_each(|at| pen.mark(&mark(at)))?;
    // Every band under every line.
    lines.iter().try_for_each(|line| pen.spread(line))?;
    lines.iter().try_for_each(|line| pen.means(line))?;
    pen.legend(&right, figure, &lines)?;
    area.present()
}

/// How a series looks.
#[derive(Clone, Copy)]
struct Style {
    colour: RGBColor,
    /// A dash and the gap after it, in points; none is a whole line.
    dash: Option<(u32, u32)>,
    shape: usize,
    filled: bool,
    /// How much of the colour a band has.
    band: f64,
}

impl Style {
    fn of(figure: &Figure, number: usize) -> Style {
        const DASHES: [Option<(u32, u32)>; 4] = [None, Some((7, 4)), Some((2, 3)), Some((14, 4))];
        let number = match &figure.looks {
            Looks::Places => number,
            Looks::Own(looks) => looks[number],
            Looks::Shades => {
                let part = number as f64 / (figure.series.len() - 1).max(1) as f64;
                return Style { colour: shade(part), dash: None, shape: 0, filled: true, band: 0.08 };
            }
        };
        Style {
            colour: COLOURS[number % COLOURS.len()],
            dash: DASHES[number % DASHES.len()],
            shape: number % SHAPES,
            filled: (number / SHAPES).is_multiple_of(2),
            band: 0.2,
        }
    }
}

/// The shade at a part of the way from dark to light.
fn shade(part: f64) -> RGBColor {
    let at = part * (SHADES.len() - 1) as f64;
    let first = (at as usize).min(SHADES.len() - 2);
    let mixed = |one: u8, other: u8| (f64::from(one) + (f64::from(other) - f64::from(one)) * (at - first as f64)) as u8;
    let (RGBColor(r, g, b), RGBColor(s, h, c)) = (SHADES[first], SHADES[first + 1]);
    RGBColor(mixed(r, s), mixed(g, h), mixed(b, c))
}

/// A series in pixels.
struct Line {
    style: Style,
    points: Vec<Pixel>,
    /// Where each point's interval begins and ends.
    ends: Vec<Option<(Pixel, Pixel)>>,
    /// Points are joined.
    is_line: bool,
    /// Points are marked.
    is_marked: bool,
}

const SHAPES: usize = 5;

/// The outline of a point's shape round the origin, for a radius.
fn shape(number: usize, radius: f64) -> Vec<(f64, f64)> {
    let corners = |count: u32, first: f64, radius: f64| -> Vec<(f64, f64)> {
        let turn = |corner: u32| (first + 360.0 * f64::from(corner) / f64::from(count)).to_radians();
        (0..count).map(|corner| (radius * turn(corner).sin(), -radius * turn(corner).cos())).collect()
    };
    match number {
        0 => corners(32, 0.0, radius),
        1 => corners(4, 45.0, 1.25 * radius),
        2 => corners(3, 0.0, 1.4 * radius),
        3 => corners(4, 0.0, 1.4 * radius),
        _ => corners(3, 180.0, 1.4 * radius),
    }
}

/// Size of all text as Plotters counts it: from the highest to the lowest that a letter of the font can reach.
pub fn text_size(scale: u32) -> f64 {
    f64::from(scale * TEXT) * FONT_HEIGHT
}

struct Pen<'a, DB: DrawingBackend> {
    scale: u32,
    area: &'a Area<DB>,
}

type Done<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

impl<DB: DrawingBackend> Pen<'_, DB> {
    fn text(&self) -> TextStyle<'static> {
        TextStyle::from((FontFamily::Name(FONT), text_size(self.scale)).into_font()).color(&BLACK)
    }

    fn points(&self, points: u32) -> i32 {
        (points * self.scale) as i32
    }

    fn width(&self, text: &str) -> Result<u32, DrawingAreaErrorKind<DB::ErrorType>> {
        Ok(self.area.estimate_text_size(text, &self.text())?.0)
    }

    /// The axes with their ticks and labels, on what the legend leaves.
    fn axes<'b>(
        &self,
        area: &'b Area<DB>,
        figure: &Figure,
        x: &Axis,
        y: &Axis,
    ) -> Result<Chart<'b, DB>, DrawingAreaErrorKind<DB::ErrorType>> {
        let widths = y.ticks.iter().map(|(_, text)| self.width(text)).collect::<Result<Vec<_>, _>>()?;
        let widest = widths.into_iter().max().unwrap_or(0);
        let mut chart = ChartBuilder::on(area)
            .margin(self.scale * MARGIN)
            .margin_right(self.scale * 2 * MARGIN)
            .y_label_area_size(widest + self.scale * (LINE + GAP))
            .x_label_area_size(self.scale * (TEXT + LINE))
            .margin_top(self.scale * (MARGIN + figure.title.as_ref().map_or(0, |_| LINE)))
            .build_cartesian_2d(Coordinate(x.clone()), Coordinate(y.clone()))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID.stroke_width(self.scale))
            .light_line_style(TRANSPARENT)
            .axis_style(AXIS.stroke_width(self.scale))
            .label_style(self.text())
            .axis_desc_style(self.text())
            .set_all_tick_mark_size(self.scale * 5)
            .x_desc(&figure.x_label)
            .y_desc(&figure.y_label)
            .draw()?;
        if let Some(title) = &figure.title {
            let left = chart.plotting_area().get_pixel_range().0.start;
            let style = self.text().pos(Pos::new(HPos::Left, VPos::Center));
            self.area.draw_text(title, &style, (left, self.points(2 * MARGIN)))?;
        }
        Ok(chart)
    }

    fn spread(&self, line: &Line) -> Done<DB> {
        if line.is_line {
            line.ends.split(Option::is_none).try_for_each(|ends| self.band(ends, line.style))
        } else {
            line.ends.iter().flatten().try_for_each(|ends| self.bar(*ends, line.style))
        }
    }

    fn means(&self, line: &Line) -> Done<DB> {
        if line.is_line {
            self.line(&line.points, line.style)?;
        }
        let marked = if line.is_marked { &line.points[..] } else { &[] };
        marked.iter().try_for_each(|&point| self.marker(point, line.style))
    }

    fn band(&self, ends: &[Option<(Pixel, Pixel)>], style: Style) -> Done<DB> {
        let ends = || ends.iter().flatten();
        let outline: Vec<Pixel> = ends().map(|(low, _)| *low).chain(ends().rev().map(|(_, high)| *high)).collect();
        if outline.len() < 4 {
            Ok(())
        } else {
            self.area.draw(&Polygon::new(outline, style.colour.mix(style.band).filled()))
        }
    }

    fn bar(&self, (low, high): (Pixel, Pixel), style: Style) -> Done<DB> {
        let (stroke, wide) = (style.colour.stroke_width(self.scale + self.scale / 2), self.points(4));
        let cap = |(x, y): Pixel| vec![(x - wide, y), (x + wide, y)];
        [vec![low, high], cap(low), cap(high)]
            .into_iter()
            .try_for_each(|line| self.area.draw(&PathElement::new(line, stroke)))
    }

    fn line(&self, points: &[Pixel], style: Style) -> Done<DB> {
        let stroke = style.colour.stroke_width(2 * self.scale);
        match style.dash {
            None => self.area.draw(&PathElement::new(points.to_vec(), stroke)),
            Some((dash, gap)) => {
                let (dash, gap) = (self.points(dash), self.points(gap));
                self.area.draw(&DashedPathElement::new(points.iter().copied(), dash, gap, stroke))
            }
        }
    }

    /// A line up the figure where something changed.
    fn mark(&self, ends: &[Pixel]) -> Done<DB> {
        let (dash, gap) = (self.points(4), self.points(3));
        self.area.draw(&DashedPathElement::new(ends.iter().copied(), dash, gap, MARK.stroke_width(self.scale)))
    }

    fn marker(&self, (x, y): Pixel, style: Style) -> Done<DB> {
        const RADIUS: f64 = 4.0;
        let outline = shape(style.shape, RADIUS * f64::from(self.scale));
        let mut outline: Vec<Pixel> =
            outline.into_iter().map(|(right, down)| (x + right.round() as i32, y + down.round() as i32)).collect();
        let inside = if style.filled { style.colour } else { WHITE };
        self.area.draw(&Polygon::new(outline.clone(), inside.filled()))?;
        outline.push(outline[0]);
        let stroke = style.colour.stroke_width(self.scale + self.scale / 2);
        self.area.draw(&PathElement::new(outline, stroke))
    }

    fn names(figure: &Figure) -> impl Iterator<Item = (usize, &str)> {
        figure.series[..named(figure)].iter().map(|series| series.name.as_str()).enumerate()
    }

    fn legend_width(&self, figure: &Figure) -> Result<u32, DrawingAreaErrorKind<DB::ErrorType>> {
        let sample = self.scale * (SAMPLE + GAP);
        let names = Self::names(figure).map(|(_, name)| Ok(self.width(name)? + sample));
        let lines = figure.legend.iter().chain(&figure.note).map(|line| self.width(line));
        let widths = names.chain(lines).collect::<Result<Vec<u32>, DrawingAreaErrorKind<DB::ErrorType>>>()?;
        Ok(widths.into_iter().max().unwrap_or(0) + self.scale * MARGIN)
    }

    fn legend(&self, area: &Area<DB>, figure: &Figure, lines: &[Line]) -> Done<DB> {
        let line = self.points(LINE) * 3 / 4;
        let top = 2 * MARGIN + figure.title.as_ref().map_or(0, |_| LINE);
        let (left, mut y) = (area.get_pixel_range().0.start, self.points(top));
        let style = self.text().pos(Pos::new(HPos::Left, VPos::Center));
        if let Some(title) = &figure.legend {
            self.area.draw_text(title, &style, (left, y))?;
            y += line;
        }
        if figure.looks == Looks::Shades {
            let bottom = area.get_pixel_range().1.end - self.points(MARGIN) - line * figure.note.len() as i32;
            self.names_at_ends(figure, lines, (left, y..bottom - line))?;
            y = bottom;
        } else {
            for (number, name) in Self::names(figure) {
                self.sample(figure, number, (left, y))?;
                self.area.draw_text(name, &style, (left + self.points(SAMPLE + GAP), y))?;
                y += line;
            }
            y += line / 3;
        }
        for note in &figure.note {
            self.area.draw_text(note, &style.color(&AXIS), (left, y))?;
            y += line;
        }
        Ok(())
    }

    /// How a series looks, in the legend.
    fn sample(&self, figure: &Figure, number: usize, (begin, y): Pixel) -> Done<DB> {
        let (look, end) = (Style::of(figure, number), begin + self.points(SAMPLE));
        if figure.names.is_none() {
            let half = self.points(6);
            let corners = [(begin, y - half), (end, y + half)];
            self.area.draw(&Rectangle::new(corners, look.colour.mix(look.band).filled()))?;
            self.line(&[(begin, y), (end, y)], look)?;
        }
        if figure.series[number].is_curve { Ok(()) } else { self.marker(((begin + end) / 2, y), look) }
    }

    /// The name of each line beside its end, as near as names have room for each other.
    fn names_at_ends(&self, figure: &Figure, lines: &[Line], (left, room): (i32, Range<i32>)) -> Done<DB> {
        let style = self.text().pos(Pos::new(HPos::Left, VPos::Center));
        let mut ends: Vec<(Pixel, usize)> =
            lines.iter().enumerate().filter_map(|(number, line)| Some((*line.points.last()?, number))).collect();
        ends.sort_by_key(|&((_, y), number)| (y, number));
        let places = apart(&ends.iter().map(|((_, y), _)| *y).collect::<Vec<_>>(), self.points(ROW), room);
        for ((end, number), y) in ends.into_iter().zip(places) {
            let way = vec![
                (end.0 + self.points(GAP), end.1),
                (left + self.points(SAMPLE / 2), y),
                (left + self.points(SAMPLE), y),
            ];
            self.area.draw(&PathElement::new(way, lines[number].style.colour.stroke_width(self.scale)))?;
            self.area.draw_text(&figure.series[number].name, &style, (left + self.points(SAMPLE + GAP / 2), y))?;
        }
        Ok(())
    }
}

/// Places in `room` for rising `wanted`, each near its own and at least `least` after the one before.
fn apart(wanted: &[i32], least: i32, room: Range<i32>) -> Vec<i32> {
    let mut places: Vec<i32> = Vec::with_capacity(wanted.len());
    for &place in wanted {
        let first = places.last().map_or(room.start, |before| before + least);
        places.push(place.max(first));
    }
    let mut most = room.end;
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - least;
    }
    places
}

/// How many series have a name at the side. One needs none: the y axis has it.
fn named(figure: &Figure) -> usize {
    let several = figure.series.len() > 1 || figure.legend.is_some();
    if several { figure.series.len() } else { 0 }
}

/// How many lines of text have no room at the side of a figure, if any.
pub fn without_room(figure: &Figure, height: u32) -> usize {
    let row = if figure.looks == Looks::Shades { ROW } else { LINE * 3 / 4 };
    let others = (figure.note.len() + usize::from(figure.legend.is_some()) + 1) as u32 * LINE * 3 / 4;
    let above = 2 * MARGIN + figure.title.as_ref().map_or(0, |_| LINE);
    // The first and the last name may be at the ends of the room.
    let fitting = height.saturating_sub(above + others + MARGIN) / row + 1;
    named(figure).saturating_sub(fitting as usize)
}
