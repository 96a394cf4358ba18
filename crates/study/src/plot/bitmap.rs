//! Plotters' bitmap, but for text: it sets letters without the room at their left, and too high.

use super::draw::FONT_HEIGHT;
use ab_glyph::{Font, FontRef, Glyph, InvalidFont, ScaleFont, point};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle, DrawingErrorKind};

/// The font; its licence is beside it.
pub const FONT_FILE: &[u8] = include_bytes!("NotoSans-Latin.ttf");
/// Height of its capitals and digits, in its em.
const CAPITALS: f32 = 0.714;

/// A bitmap with well-set text.
pub struct Bitmap<'a> {
    inner: BitMapBackend<'a>,
    font: FontRef<'static>,
}

type BackendError<'a> = <BitMapBackend<'a> as DrawingBackend>::ErrorType;
type Done<'a> = Result<(), DrawingErrorKind<BackendError<'a>>>;

impl<'a> Bitmap<'a> {
    /// Text on `inner`.
    ///
    /// # Errors
    /// The font is damaged.
    pub fn new(inner: BitMapBackend<'a>) -> Result<Bitmap<'a>, InvalidFont> {
        Ok(Bitmap { inner, font: FontRef::try_from_slice(FONT_FILE)? })
    }
}

/// The letters of `text` side by side from the origin, and how wide they are together.
fn set(font: &FontRef<'_>, text: &str, height: f32) -> (Vec<Glyph>, f32) {
    let (font, mut right, mut last) = (font.as_scaled(height), 0.0, None);
    // The font has no minus sign of its own.
    let letters = text.chars().map(|letter| if letter == '\u{2212}' { '-' } else { letter }).map(|letter| {
        let mut glyph = font.scaled_glyph(letter);
        right += last.map_or(0.0, |last| font.kern(last, glyph.id));
        glyph.position = point(right, 0.0);
        right += font.h_advance(glyph.id);
        last = Some(glyph.id);
        glyph
    });
    (letters.collect(), right)
}

/// An SVG of Plotters in which each text says how wide it is: so it fits in any font that shows it.
///
/// # Errors
/// The font is damaged.
pub fn with_widths(svg: &str) -> Result<String, InvalidFont> {
    let font = FontRef::try_from_slice(FONT_FILE)?;
    let mut wide = String::with_capacity(svg.len() + svg.len() / 4);
    for (number, part) in svg.split("<text ").enumerate() {
        if number > 0 {
            wide += "<text ";
            let size = part.split_once("font-size=\"").and_then(|(_, rest)| rest.split_once('"'));
            let size: Option<f32> = size.and_then(|(size, _)| size.parse().ok());
            let text = part.split_once('>').and_then(|(_, rest)| rest.split_once("</text>"));
            if let Some((size, (text, _))) = size.zip(text) {
                let (_, width) = set(&font, &unescaped(text.trim()), size * FONT_HEIGHT as f32);
                wide += &format!("textLength=\"{width:.0}\" lengthAdjust=\"spacingAndGlyphs\" ");
            }
        }
        wide += part;
    }
    Ok(wide)
}

/// What XML shows a text as.
fn unescaped(text: &str) -> String {
    let letters = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    letters.iter().fold(text.to_owned(), |text, (escaped, letter)| text.replace(escaped, letter))
}

impl<'a> DrawingBackend for Bitmap<'a> {
    type ErrorType = BackendError<'a>;

    fn get_size(&self) -> (u32, u32) {
        self.inner.get_size()
    }

    fn ensure_prepared(&mut self) -> Done<'a> {
        self.inner.ensure_prepared()
    }

    fn present(&mut self) -> Done<'a> {
        self.inner.present()
    }

    fn draw_pixel(&mut self, at: (i32, i32), colour: BackendColor) -> Done<'a> {
        self.inner.draw_pixel(at, colour)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: (i32, i32), to: (i32, i32), style: &S) -> Done<'a> {
        self.inner.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: (i32, i32), to: (i32, i32), style: &S, fill: bool) -> Done<'a> {
        self.inner.draw_rect(from, to, style, fill)
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: (i32, i32)) -> Done<'a> {
        let height = style.size() as f32;
        let em = height / FONT_HEIGHT as f32;
        let (letters, width) = set(&self.font, text, height);
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        let baseline = match style.anchor().v_pos {
            // As in an SVG of Plotters, for which it leaves room.
            VPos::Top => 0.76 * em,
            VPos::Center => CAPITALS * em / 2.0,
            VPos::Bottom => -0.27 * em,
        };
        let (colour, turn, (width, height)) = (style.color(), style.transform(), self.get_size());
        for mut letter in letters {
            letter.position += point(left, baseline);
            // A space has no outline.
            let Some(outline) = self.font.outline_glyph(letter) else { continue };
            let (corner, mut pixels) = (outline.px_bounds().min, Vec::new());
            outline.draw(|x, y, part| pixels.push((corner.x as i32 + x as i32, corner.y as i32 + y as i32, part)));
            for (x, y, part) in pixels {
                let (right, down) = turn.transform(x, y);
                let (x, y) = (at.0 + right, at.1 + down);
                if (0..width as i32).contains(&x) && (0..height as i32).contains(&y) {
                    self.draw_pixel((x, y), BackendColor { alpha: colour.alpha * f64::from(part).min(1.0), ..colour })?;
                }
            }
        }
        Ok(())
    }
}
