//! How long frames are: as written, the mean that loads are reckoned with, and draws.

use super::draw;
use backoff::Generator;
use medium::Octets;
use std::fmt;
use std::str::FromStr;

/// The shortest frame that can be written: addresses, type and FCS (802.3, 3.2). The medium pads it.
const SHORTEST: u32 = 18;
/// The longest frame that can be written; the medium has its own limit (`max_frame_size`), usually lower.
const LONGEST: u32 = 65_535;
/// What weights may sum up to, so that a mean is exact.
const WEIGHTS: u64 = 1 << 32;

/// The sizes of one station's frames, in octets from destination address to FCS.
///
/// As text: `64` for one size, `64:7,594:4,1518:1` for sizes with weights, `uniform:64-1518` for any size between two,
/// both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All of this size.
    Fixed(u32),
    /// Each of these sizes as often as its weight says, independently from frame to frame.
    Mixed(Vec<(u32, u64)>),
    /// Every size from the first to the second equally often.
    Uniform(u32, u32),
}

impl Sizes {
    /// Sizes unless said otherwise: the shortest frame of the standard.
    pub const DEFAULT: Sizes = Sizes::Fixed(64);

    /// Mean time of a frame on the medium, in bit times from destination address to FCS, padding included.
    ///
    /// This is the L of `utilization_frame`: preamble, gap and carrier extension are no part of it.
    pub fn mean_bit_times(&self, min_frame_size: Octets) -> f64 {
        let timed = |size: u32| u128::from(size.max(min_frame_size.get())) * 8;
        let (sum, count) = match self {
            Sizes::Fixed(size) => (timed(*size), 1),
            Sizes::Mixed(sizes) => sizes.iter().fold((0, 0), |(sum, count), &(size, weight)| {
                (sum + timed(size) * u128::from(weight), count + u128::from(weight))
            }),
            Sizes::Uniform(first, last) => {
                ((*first..=*last).map(timed).sum(), u128::from(last.saturating_sub(*first)) + 1)
            }
        };
        sum as f64 / count as f64
    }

    /// The longest of them.
    pub fn longest(&self) -> Octets {
        Octets::new(match self {
            Sizes::Fixed(size) | Sizes::Uniform(_, size) => *size,
            Sizes::Mixed(sizes) => sizes.iter().map(|&(size, _)| size).max().unwrap_or(0),
        })
    }

    /// Checks what the parser would have refused.
    ///
    /// # Errors
    /// A size or a weight out of its range, and what would be right.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Sizes::Fixed(size) => in_range(*size),
            Sizes::Mixed(sizes) => {
                let total = sizes.iter().try_fold(0_u64, |sum, &(_, weight)| sum.checked_add(weight));
                sizes.iter().try_for_each(|&(size, _)| in_range(size))?;
                match total {
                    _ if sizes.iter().any(|&(_, weight)| weight == 0) => {
                        Err("a weight is 0: leave that size out".into())
                    }
                    Some(1..=WEIGHTS) => Ok(()),
                    _ => Err("the weights sum up to 0 or to more than 2^32".into()),
                }
            }
            Sizes::Uniform(first, last) => {
                in_range(*first)?;
                in_range(*last)?;
                if first <= last {
                    Ok(())
                } else {
                    Err(format!("{first} is above {last}: write the smaller size first"))
                }
            }
        }
    }
}

pub(super) fn in_range(size: u32) -> Result<(), String> {
    if (SHORTEST..=LONGEST).contains(&size) {
        return Ok(());
    }
    Err(format!(
        "{size} octets are no frame: write {SHORTEST} to 1518, from destination address to FCS (up to 2000 with `max_frame_size`, up to {LONGEST} for a station that babbles)"
    ))
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes::DEFAULT
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let parsed = match text.trim().strip_prefix("uniform:") {
            Some(range) => {
                range.split_once('-').and_then(|(first, last)| Some(Sizes::Uniform(whole(first)?, whole(last)?)))
            }
            None if text.contains([':', ',']) => text.split(',').map(weighted).collect::<Option<_>>().map(Sizes::Mixed),
            None => whole(text).map(Sizes::Fixed),
        };
        let sizes = parsed.ok_or_else(|| {
            format!(
                "`{text}` is no frame size: write octets like `64`, sizes with weights like `64:7,594:4,1518:1`, or a range like `uniform:64-1518`"
            )
        })?;
        sizes.check().map_err(|what| format!("`{text}`: {what}"))?;
        Ok(sizes)
    }
}

/// `594:4`
fn weighted(text: &str) -> Option<(u32, u64)> {
    let (size, weight) = text.split_once(':')?;
    Some((whole(size)?, whole(weight)?))
}

/// A number of digits only: `+64` is none.
pub(super) fn whole<T: FromStr>(text: &str) -> Option<T> {
    let text = text.trim();
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The octets that an option `key` gives, if it is written; `like` is a right value.
pub(super) fn octets<T: FromStr>(key: &str, text: Option<&str>, like: &str) -> Result<Option<T>, String> {
    let read =
        |text: &str| whole(text).ok_or_else(|| format!("`{key}={text}` is no number of octets: write `{key}={like}`"));
    text.map(read).transpose()
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Fixed(size) => write!(f, "{size}"),
            Sizes::Mixed(sizes) => {
                let parts: Vec<String> = sizes.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
                f.write_str(&parts.join(","))
            }
            Sizes::Uniform(first, last) => write!(f, "uniform:{first}-{last}"),
        }
    }
}

/// Draws sizes; a fixed size needs no draw.
#[derive(Clone, Debug)]
pub(super) struct SizeDraws {
    law: Law,
    generator: Generator,
}

#[derive(Clone, Debug)]
enum Law {
    Fixed(u32),
    /// Each size with the sum of the weights up to it.
    Mixed(Vec<(u32, u64)>),
    Uniform(u32, u64),
}

impl SizeDraws {
    /// Draws of checked `sizes`.
    pub fn new(sizes: &Sizes, generator: Generator) -> SizeDraws {
        let law = match sizes {
            Sizes::Fixed(size) => Law::Fixed(*size),
            Sizes::Mixed(sizes) => {
                let up_to = |sum: &mut u64, &(size, weight): &(u32, u64)| {
                    *sum += weight;
                    Some((size, *sum))
                };
                Law::Mixed(sizes.iter().scan(0, up_to).collect())
            }
            Sizes::Uniform(first, last) => Law::Uniform(*first, u64::from(last - first) + 1),
        };
        SizeDraws { law, generator }
    }

    #[inline]
    pub fn draw(&mut self) -> Octets {
        Octets::new(match &self.law {
            Law::Fixed(size) => *size,
            Law::Uniform(first, count) => first + draw::below(&mut self.generator, *count) as u32,
            Law::Mixed(sizes) => {
                let drawn = draw::below(&mut self.generator, sizes[sizes.len() - 1].1);
                sizes[sizes.partition_point(|&(_, up_to)| up_to <= drawn)].0
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!("64".parse(), Ok(Sizes::Fixed(64)));
        assert_eq!(" 64:7, 594:4, 1518:1".parse(), Ok(Sizes::Mixed(vec![(64, 7), (594, 4), (1518, 1)])));
        assert_eq!("uniform:64-1518".parse(), Ok(Sizes::Uniform(64, 1518)));
        for text in [
            "",
            "17",
            "65536",
            "64,",
            "64:0",
            "64:7,594",
            "-64",
            "+64",
            "uniform:64",
            "uniform:65-64",
            "64 octets",
            "64:4294967297",
            "uniform:17-64",
            "uniform:64-65536",
            "64:18446744073709551615,65:1",
            "normal:64",
        ] {
            let error = text.parse::<Sizes>().expect_err(text);
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    /// Loads are reckoned with what a frame takes on the medium: padded to minFrameSize (802.3, 4.2.3.3).
    #[test]
    fn the_mean_is_that_of_padded_frames() {
        assert_eq!(Sizes::Fixed(18).mean_bit_times(Octets::new(18)), 144.0);
        assert_eq!(Sizes::Fixed(18).mean_bit_times(Octets::new(64)), 512.0);
        assert_eq!(
            "64:7,594:4,1518:1".parse().map(|sizes: Sizes| sizes.mean_bit_times(Octets::new(64))),
            Ok(8.0 * 4342.0 / 12.0)
        );
        assert_eq!(Sizes::Uniform(63, 65).mean_bit_times(Octets::new(64)), 8.0 * (64.0 + 64.0 + 65.0) / 3.0);
    }
}
