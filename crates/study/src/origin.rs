//! What made a picture, in the picture itself: the command, the seeds and the version. None of it depends on when or where
//! the command ran, so that the same command makes the same picture.

use super::plot::picture::Kind;
use say::program::typed;
use sim::words::prose::escape;

/// A signature and the header's chunk come before all else in a PNG.
const PNG_HEAD: usize = 8 + 25;

/// A picture that says what made it; `seeds` is empty if no chance is in it.
pub fn with_origin(kind: Kind, picture: &[u8], seeds: &str) -> Vec<u8> {
    let (place, origin) = match kind {
        Kind::Svg => (after_root(picture), metadata(seeds).into_bytes()),
        Kind::Png => (PNG_HEAD.min(picture.len()), facts(seeds).iter().flat_map(chunk).collect()),
    };
    [&picture[..place], &origin, &picture[place..]].concat()
}

/// The element of an SVG that says what made it.
pub fn metadata(seeds: &str) -> String {
    let line = |(name, value): &(&str, String)| {
        let plain: String = value.chars().filter(|letter| !letter.is_control()).collect();
        format!("{name}: {}\n", escape(&plain))
    };
    format!("\n<metadata>\n{}</metadata>", facts(seeds).iter().map(line).collect::<String>())
}

fn facts(seeds: &str) -> Vec<(&'static str, String)> {
    let seed = (!seeds.is_empty()).then(|| ("seed", seeds.to_owned()));
    let facts = [("command", typed()), ("version", concat!("ethbus ", env!("CARGO_PKG_VERSION")).to_owned())];
    facts.into_iter().chain(seed).collect()
}

/// Where the content of an SVG's root begins.
fn after_root(svg: &[u8]) -> usize {
    let root = svg.windows(4).position(|word| word == b"<svg").unwrap_or(svg.len());
    svg[root..].iter().position(|octet| *octet == b'>').map_or(svg.len(), |end| root + end + 1)
}

/// A text of a PNG (ISO/IEC 15948, 11.3.4): tEXt, or iTXt if it has other letters than ASCII.
fn chunk((name, value): &(&str, String)) -> Vec<u8> {
    let between: &[u8] = if value.is_ascii() { b"\0" } else { b"\0\0\0\0\0" };
    let kind: &[u8] = if value.is_ascii() { b"tEXt" } else { b"iTXt" };
    let body = [kind, name.as_bytes(), between, value.as_bytes()].concat();
    let length = (body.len() - kind.len()) as u32;
    [&length.to_be_bytes()[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader of another library takes the picture, and its texts.
    #[test]
    fn a_png_has_its_texts_and_is_whole() {
        let mut picture = Vec::new();
        let mut writer = png::Encoder::new(&mut picture, 1, 1).write_header().expect("a picture");
        writer.write_image_data(&[7]).expect("a picture");
        writer.finish().expect("a picture");
        let picture = with_origin(Kind::Png, &picture, "1, 2");
        let mut reader = png::Decoder::new(std::io::Cursor::new(&picture)).read_info().expect("a picture");
        let mut pixel = [0];
        reader.next_frame(&mut pixel).expect("a pixel");
        let texts: Vec<(String, String)> = reader
            .info()
            .uncompressed_latin1_text
            .iter()
            .map(|text| (text.keyword.clone(), text.text.clone()))
            .collect();
        assert_eq!((pixel, texts.len()), ([7], 3), "{texts:?}");
        assert!(texts.contains(&("seed".to_owned(), "1, 2".to_owned())), "{texts:?}");
        let other = png::Decoder::new(std::io::Cursor::new(
            [&picture[..PNG_HEAD], &chunk(&("command", "ü".to_owned())), &picture[PNG_HEAD..]].concat(),
        ));
        let other = other.read_info().expect("a picture");
        assert_eq!(other.info().utf8_text[0].get_text().expect("UTF-8"), "ü");
    }

    #[test]
    fn an_svg_has_its_metadata_first() {
        let picture = with_origin(Kind::Svg, b"<?xml version=\"1.0\"?>\n<svg width=\"1\">\n<g/></svg>", "3");
        let text = String::from_utf8(picture).expect("UTF-8");
        assert!(text.contains("<svg width=\"1\">\n<metadata>\ncommand: ethbus"), "{text}");
        assert!(text.contains("\nseed: 3\n</metadata>\n<g/></svg>"), "{text}");
    }
}
