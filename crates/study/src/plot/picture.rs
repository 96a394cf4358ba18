//! A figure as a picture: SVG, or PNG.

use super::PlotError;
use super::axis::Axis;
use super::bitmap::{self, Bitmap};
use super::data::Figure;
use super::draw::{FONT, FONT_HEIGHT, draw, text_size, without_room};
use crate::origin::with_origin;
use plotters::backend::RGBPixel;
use plotters::prelude::*;
use plotters::style::register_font;
use sim::files::output;
use std::path::Path;

/// Width and height in points.
const SIZE: (u32, u32) = (800, 480);
/// A figure is drawn larger by this factor: in an SVG places are whole numbers.
const SCALE: u32 = 4;
/// Pixels of the drawing that become one of the PNG, in both directions: smooth edges.
const SMOOTH: u32 = 2;

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines and text.
    Svg,
    /// Pixels.
    Png,
}

impl Kind {
    /// The kind that a file's name asks for; standard output is SVG.
    ///
    /// # Errors
    /// The name ends neither in .svg nor in .png.
    pub fn of(path: &Path) -> Result<Kind, PlotError> {
        if output::is_stdout(path) {
            return Ok(Kind::Svg);
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Kind::Svg),
            Some("png") => Ok(Kind::Png),
            _ => Err(PlotError::option(
                &format!("--out {}", path.display()),
                "a figure is SVG or PNG: write a name that ends in .svg or .png".to_owned(),
            )),
        }
    }

    /// The figure as such a picture.
    ///
    /// # Errors
    /// The figure cannot be drawn.
    pub fn picture(self, figure: &Figure, axes: (&Axis, &Axis)) -> Result<Vec<u8>, PlotError> {
        let over = without_room(figure, SIZE.1);
        if over > 0 {
            let (all, one) = (figure.series.len(), "choose some with --where, or fewer values of --by".to_owned());
            let what = format!("{over} of {all} lines have no room for their names: {one}");
            return Err(PlotError::option("--by", what));
        }
        register_font(FONT, FontStyle::Normal, bitmap::FONT_FILE)
            .map_err(|_| PlotError::Draw("the font is damaged".to_owned()))?;
        match self {
            Kind::Svg => svg(figure, axes),
            Kind::Png => png(figure, axes),
        }
    }
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Draw(error.to_string())
}

fn svg(figure: &Figure, axes: (&Axis, &Axis)) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut text = String::new();
    draw(&SVGBackend::with_string(&mut text, (width, height)).into_drawing_area(), figure, axes, SCALE)
        .map_err(failed)?;
    // Plotters takes every font for 1.24 em high; its places are worked out with ours.
    let (theirs, ours) = (text_size(SCALE) / 1.24, text_size(SCALE) / FONT_HEIGHT);
    let text = text.replace(&format!("font-size=\"{theirs}\""), &format!("font-size=\"{ours}\""));
    let text = bitmap::with_widths(&text).map_err(failed)?;
    // As large on a page as it was meant; the view box keeps the drawing's own measure.
    let own = format!("width=\"{width}\" height=\"{height}\" viewBox");
    Ok(text.replacen(&own, &format!("width=\"{}\" height=\"{}\" viewBox", SIZE.0, SIZE.1), 1).into_bytes())
}

fn png(figure: &Figure, axes: (&Axis, &Axis)) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut pixels = vec![0; 3 * (width * height) as usize];
    let backend = BitMapBackend::<RGBPixel>::with_buffer_and_format(&mut pixels, (width, height)).map_err(failed)?;
    let backend = Bitmap::new(backend).map_err(failed)?;
    draw(&backend.into_drawing_area(), figure, axes, SCALE).map_err(failed)?;
    let pixels = smooth(&pixels, width as usize);
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, width / SMOOTH, height / SMOOTH);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(png)
}

/// Makes one pixel of each square of `SMOOTH` by `SMOOTH`: their mean.
fn smooth(pixels: &[u8], width: usize) -> Vec<u8> {
    let side = SMOOTH as usize;
    let rows: Vec<&[u8]> = pixels.chunks_exact(3 * width).collect();
    let mut smooth = Vec::with_capacity(pixels.len() / (side * side));
    for rows in rows.chunks_exact(side) {
        for x in (0..width).step_by(side) {
            for colour in 0..3 {
                let sum: u32 =
                    rows.iter().flat_map(|row| (x..x + side).map(move |x| u32::from(row[3 * x + colour]))).sum();
                smooth.push((sum / (SMOOTH * SMOOTH)) as u8);
            }
        }
    }
    smooth
}

/// Writes a picture, and what made it into it. `seeds` is empty if no chance is in it.
///
/// # Errors
/// There is something else under this name, the disk is full, or the like.
pub fn write(path: &Path, kind: Kind, picture: &[u8], seeds: &str) -> Result<(), PlotError> {
    Ok(output::replace(path, kind.output(), &with_origin(kind, picture, seeds))?)
}

/// Whether [`write()`] could write a picture, before it is drawn.
///
/// # Errors
/// As [`write()`]; there is no such folder.
pub fn ready(path: &Path, kind: Kind) -> Result<(), PlotError> {
    Ok(output::ready(path, kind.output())?)
}

impl Kind {
    fn output(self) -> output::Kind {
        match self {
            Kind::Svg => output::SVG,
            Kind::Png => output::PNG,
        }
    }
}
