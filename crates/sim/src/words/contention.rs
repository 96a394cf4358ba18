//! How senders wait after an unsuccessful attempt, in slots, as people write it: `uniform:20`, `beb:1024`,
//! `rcp:1,10,100,200`; and how persistent a sender is that finds the line busy: `1`, `non`, `0.1`.

use backoff::Policy;
use medium::{Capture, Control, ControlLimits, Persistence, Phy, SlottedAloha};
use std::num::NonZeroU32;
use std::time::Duration;

/// The slot that every policy here counts in.
const SLOT: Duration = SlottedAloha::SLOT;
/// The most slots to choose from.
const MOST: u32 = 1 << 24;
/// As of 802.3, unless said otherwise: the greatest range is 2^10.
const DEFAULT_LIMIT: u32 = 10;
/// The largest limit of an exponent, and so the longest table that can be told from its first entries.
const HIGHEST_LIMIT: u32 = 24;
/// The largest base of an exponential backoff.
const HIGHEST_BASE: u32 = 1000;
/// Entries that a table of intervals may have, K(0) not counted.
const ENTRIES: usize = 16;

/// Reads `uniform:K`, `geometric:K`, `beb`, `beb:RANGE`, `exponential:BASE,LIMIT`, `rcp:K0,K1,…`,
/// `rcp-multipliers:M1,M2,…`, or what is not random: `constant:S` and `fixed:BASE,LIMIT`.
///
/// K(m) of `rcp` is Lam's: from how many slots a frame with m unsuccessful attempts chooses. A new frame is sent at once,
/// so K(0) is 1, and may be left out if K(1) is another.
///
/// # Errors
/// Anything else, and what would be right.
pub fn backoff(text: &str) -> Result<Policy, String> {
    let policy = match text.trim().split_once(':') {
        None if text.trim() == "beb" => Some(Policy::slot_exponential(SLOT, 2, DEFAULT_LIMIT)),
        Some(("beb", range)) => slots(range)
            .filter(|range| *range >= 2 && range.is_power_of_two())
            .map(|range| Policy::slot_exponential(SLOT, 2, range.ilog2())),
        Some(("exponential", of)) => of.split_once(',').and_then(|(base, limit)| {
            let (base, limit) = (slots(base)?, slots(limit)?);
            let fits = (2..=HIGHEST_BASE).contains(&base) && base.checked_pow(limit).is_some_and(|range| range <= MOST);
            fits.then(|| Policy::slot_exponential(SLOT, base, limit))
        }),
        Some(("constant", wait)) => slots(wait).map(|wait| Policy::constant(SLOT * wait)),
        Some(("fixed", of)) => of.split_once(',').and_then(|(base, limit)| fixed(slots(base)?, slots(limit)?)),
        Some(("uniform", k)) => slots(k).map(|k| Policy::aloha_uniform(SLOT, k)),
        Some(("geometric", k)) => slots(k).map(|k| Policy::aloha_geometric(SLOT, k)),
        Some(("rcp", table)) => list(table).and_then(|table| Policy::rcp_of(SLOT, after_a_collision(&table))),
        Some(("rcp-multipliers", list_of)) => list(list_of).and_then(|multipliers| {
            let product = multipliers.iter().try_fold(1_u32, |product, by| product.checked_mul(*by));
            product.filter(|product| *product <= MOST).and_then(|_| Policy::rcp_multipliers_of(SLOT, &multipliers))
        }),
        None | Some(_) => None,
    };
    policy.ok_or_else(|| {
        format!(
            "`{text}` is no backoff: write `uniform:20` (one of the next 20 slots), `geometric:20`, `beb`, `beb:1024` (its greatest range, a power of 2), `rcp:1,10,100,200` (K(0) is 1), or `constant:4` and `fixed:2,10`, which are not random"
        )
    })
}

/// K(1), K(2) … of a list of `rcp:`. Lam's list begins with K(0) = 1, that of a new frame, which is sent at once; a list
/// that begins with another number, or has one number only, begins with K(1).
pub fn after_a_collision<T: PartialEq + From<u8>>(table: &[T]) -> &[T] {
    match table {
        [first, rest @ ..] if !rest.is_empty() && *first == T::from(1) => rest,
        all => all,
    }
}

/// Always BASE^n slots after the n-th failure, and BASE^LIMIT from then on: exponential backoff that is not random.
fn fixed(base: u32, limit: u32) -> Option<Policy> {
    let longest = base.checked_pow(limit).filter(|longest| *longest <= MOST)?;
    let fits = (2..=HIGHEST_BASE).contains(&base);
    let policy = Policy::exponential(SLOT * base).with_multiplier_percent(100 * base).with_ceiling(SLOT * longest);
    fits.then_some(policy)
}

/// The text of a policy that is not random; none for another.
fn fixed_name(policy: &Policy) -> Option<String> {
    let first = u32::try_from(policy.law(1)?.longest_ns()).ok().filter(|first| *first > 0)?;
    if *policy == Policy::constant(SLOT * first) {
        return Some(format!("constant:{first}"));
    }
    let limit = (1..=HIGHEST_LIMIT).find(|&limit| fixed(first, limit) == Some(*policy))?;
    Some(format!("fixed:{first},{limit}"))
}

fn slots(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    text.parse().ok().filter(|slots| digits && (1..=MOST).contains(slots))
}

fn list(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(slots).collect()
}

/// The text that [`backoff()`] reads as this policy; none for a policy that it never gives.
pub fn name(policy: &Policy) -> Option<String> {
    if let Some(fixed) = fixed_name(policy) {
        return Some(fixed);
    }
    let law = |failures: usize| policy.law(failures as u64);
    let table: Vec<u32> = (1..=ENTRIES).map_while(|n| u32::try_from(law(n)?.longest_ns() + 1).ok()).collect();
    let as_table = (1..=table.len()).find(|&n| Policy::rcp_of(SLOT, &table[..n]) == Some(*policy));
    if let Some(entries) = as_table {
        let entries: Vec<String> = table[..entries].iter().map(u32::to_string).collect();
        return Some(if let [only] = &entries[..] {
            format!("uniform:{only}")
        } else {
            format!("rcp:1,{}", entries.join(","))
        });
    }
    // K(1) of an exponential backoff is its base.
    if let Some(&base) = table.first().filter(|base| (2..=HIGHEST_BASE).contains(*base))
        && let Some(limit) = (1..=HIGHEST_LIMIT).find(|&limit| Policy::slot_exponential(SLOT, base, limit) == *policy)
    {
        return Some(match (base, limit) {
            (2, DEFAULT_LIMIT) => "beb".to_owned(),
            (2, limit) => format!("beb:{}", 1_u32 << limit),
            (base, limit) => format!("exponential:{base},{limit}"),
        });
    }
    // The mean of a uniform choice from K slots is (K − 1)/2.
    let slots = (2.0 * law(1)?.mean_ns()).round() as u32 + 1;
    (Policy::aloha_geometric(SLOT, slots) == *policy).then(|| format!("geometric:{slots}"))
}

/// Reads `1`, `non` or a probability with up to six decimals.
///
/// # Errors
/// Anything else, and what would be right.
pub fn persistence(text: &str) -> Result<Persistence, String> {
    let wrong =
        || format!("`{text}` is no persistence: write `1`, `non`, or a probability from 0.0001 to 1 like `0.1`");
    match text.trim() {
        "1" => Ok(Persistence::One),
        "non" => Ok(Persistence::Non),
        chance => {
            let chance: f64 = chance.parse().map_err(|_| wrong())?;
            let millionths = (chance * 1e6).round();
            let fits = (100.0..=1e6).contains(&millionths) && (chance * 1e6 - millionths).abs() < 1e-4;
            if fits { Ok(Persistence::Millionths(millionths as u32)) } else { Err(wrong()) }
        }
    }
}

/// The text that [`persistence()`] reads as this.
pub fn persistence_name(persistence: Persistence) -> String {
    match persistence {
        Persistence::One => "1".to_owned(),
        Persistence::Non => "non".to_owned(),
        // With a point: `1` is the other one.
        Persistence::Millionths(1_000_000) => "1.0".to_owned(),
        Persistence::Millionths(millionths) => (f64::from(millionths) / 1e6).to_string(),
    }
}

/// Reads `known`, `estimated`, or `estimated:0.3` with the new frames of a slot, up to six decimals.
///
/// # Errors
/// Anything else, and what would be right.
pub fn control(text: &str) -> Result<Control, String> {
    let wrong = || {
        format!(
            "`{text}` is no control: write `known`, `estimated`, or new frames a slot like `estimated:0.3`; with control limits, `known,10,200@7` or `estimated:0.3,10,reject@7`"
        )
    };
    if let Some((knows, limits)) = text.trim().split_once(',') {
        let known = control(knows).map_err(|_| wrong())?;
        return limits_of(known, limits).map(Control::Limits).ok_or_else(wrong);
    }
    match text.trim() {
        "known" => Ok(Control::Known),
        "estimated" => Ok(Control::ESTIMATED),
        estimated => {
            let load = estimated.strip_prefix("estimated:").ok_or_else(wrong)?;
            let load: f64 = load.parse().map_err(|_| wrong())?;
            let millionths = (load * 1e6).round();
            let fits = (1.0..1e6).contains(&millionths) && (load * 1e6 - millionths).abs() < 1e-4;
            let arrivals_millionths = millionths as u32;
            if fits { Ok(Control::Estimated { arrivals_millionths }) } else { Err(wrong()) }
        }
    }
}

/// K, then K above a limit, then the limit of new frames: `10,200@7,reject@9`, of which the last two may be missing.
fn limits_of(knows: Control, text: &str) -> Option<ControlLimits> {
    let number = |text: &str| text.trim().parse().ok().filter(|number| *number <= ControlLimits::MOST);
    let arrivals_millionths = match knows {
        Control::Known => None,
        Control::Estimated { arrivals_millionths } => Some(arrivals_millionths),
        Control::Limits(_) => return None,
    };
    let mut parts = text.split(',');
    let retransmit = number(parts.next()?).filter(|k| *k > 0)?;
    let mut limits = ControlLimits { arrivals_millionths, retransmit, longer: None, input: None };
    for part in parts {
        let (what, limit) = part.split_once('@')?;
        let limit = number(limit)?;
        match (what.trim(), limits) {
            ("reject", ControlLimits { input: None, .. }) => limits.input = Some(limit),
            (k, ControlLimits { longer: None, input: None, .. }) => {
                limits.longer = Some((number(k).filter(|k| *k > retransmit)?, limit));
            }
            _ => return None,
        }
    }
    (limits.longer.is_some() || limits.input.is_some()).then_some(limits)
}

/// The text that [`control()`] reads as this.
pub fn control_name(control: Control) -> String {
    match control {
        Control::Known => "known".to_owned(),
        Control::ESTIMATED => "estimated".to_owned(),
        Control::Estimated { arrivals_millionths } => format!("estimated:{}", f64::from(arrivals_millionths) / 1e6),
        Control::Limits(ControlLimits { arrivals_millionths, retransmit, longer, input }) => {
            let estimated = |arrivals_millionths| control_name(Control::Estimated { arrivals_millionths });
            let knows = arrivals_millionths.map_or("known".to_owned(), estimated);
            let longer = longer.map_or(String::new(), |(k, limit)| format!(",{k}@{limit}"));
            let input = input.map_or(String::new(), |limit| format!(",reject@{limit}"));
            format!("{knows},{retransmit}{longer}{input}")
        }
    }
}

/// Reads the threshold of capture in dB, and the path loss exponent if it is not 4, like `10dB` or `10dB,3.5`: both in
/// hundredths.
///
/// # Errors
/// Anything else, and what would be right.
pub fn capture(text: &str) -> Result<(u32, u32), String> {
    let wrong = || {
        format!(
            "`{text}` is no threshold of capture: write one above 0 dB and up to 100 dB, like `10dB`, or with a path loss exponent from 1 to 10, like `10dB,3.5`"
        )
    };
    let hundredths = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        let hundredths = (number * 100.0).round();
        ((0.0..1e6).contains(&hundredths) && (number * 100.0 - hundredths).abs() < 1e-6).then_some(hundredths as u32)
    };
    let (threshold, exponent) = text.split_once(',').map_or((text, None), |(first, second)| (first, Some(second)));
    let threshold = threshold.trim().strip_suffix("dB").and_then(hundredths).ok_or_else(wrong)?;
    let exponent = exponent.map_or(Some(Capture::GROUND), hundredths).ok_or_else(wrong)?;
    let fits = (1..=Capture::MOST_THRESHOLD).contains(&threshold) && Capture::EXPONENTS.contains(&exponent);
    if fits { Ok((threshold, exponent)) } else { Err(wrong()) }
}

/// Reads the name of a physical layer of 802.11, like `dsss-11`.
///
/// # Errors
/// Anything else, and what would be right.
pub fn phy(text: &str) -> Result<Phy, String> {
    Phy::ALL.into_iter().find(|phy| phy.name() == text.trim()).ok_or_else(|| {
        format!(
            "`{text}` is no physical layer: write `dsss-1`, `dsss-11`, `fhss-1`, or `ofdm-` and 6, 9, 12, 18, 24, 36, 48 or 54"
        )
    })
}

/// The most slots that 802.11's backoff may choose from.
const MOST_WINDOW: u32 = 1 << 16;

/// Reads `32:1024`: from how many numbers of slots the first draw chooses, and the most that any draw chooses from.
///
/// # Errors
/// Anything else, and what would be right.
pub fn window(text: &str) -> Result<(u32, u32), String> {
    let window = text.split_once(':').and_then(|(first, most)| Some((slots(first)?, slots(most)?)));
    window.filter(|(first, most)| first <= most && *most <= MOST_WINDOW).ok_or_else(|| {
        format!("`{text}` is no window: write the first and the largest number of slots, like `32:1024`, up to 65536")
    })
}

/// Reads `7:4`: after how many attempts without CTS or ACK, and after how many with CTS and without ACK, a frame is
/// discarded.
///
/// # Errors
/// Anything else, and what would be right.
pub fn retry_limits(text: &str) -> Result<(NonZeroU32, NonZeroU32), String> {
    let limit = |text: &str| slots(text).filter(|limit| *limit <= 255).and_then(NonZeroU32::new);
    let limits = text.split_once(':').and_then(|(short, long)| Some((limit(short)?, limit(long)?)));
    limits.ok_or_else(|| {
        format!("`{text}` are no retry limits: write the short and the long one, 1 to 255 each, like `7:4`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_is_read_as_people_write_it_and_comes_back() {
        for text in [
            "uniform:20",
            "uniform:1",
            "geometric:20",
            "geometric:1",
            "beb",
            "beb:4",
            "exponential:3,6",
            "constant:1",
            "constant:20",
            "fixed:2,10",
            "fixed:3,1",
            "rcp:1,10,100,200",
            "rcp:1,1,10,10,5",
        ] {
            let policy = backoff(text).expect(text);
            assert_eq!(name(&policy).as_deref(), Some(text));
        }
        let named = |text: &str| name(&backoff(text).expect(text));
        assert_eq!(named(" rcp: 7").as_deref(), Some("uniform:7"));
        assert_eq!(named("beb:1024").as_deref(), Some("beb"));
        assert_eq!(named("rcp-multipliers:10,10,2").as_deref(), Some("rcp:1,10,100,200"));
        assert_eq!(name(&Policy::SIP_TIMER_E), None);
    }

    /// Lam: a new frame is sent at once, so K(0) = 1 is the same as none; K(1) is the first after a collision.
    #[test]
    fn k_of_0_is_that_of_a_new_frame() {
        assert_eq!(backoff("rcp:1,10,100,200"), backoff("rcp:10,100,200"));
        let policy = backoff("rcp:1,10,100,200").expect("Lam's");
        let longest = |failures| policy.law(failures).expect("no limit").longest_ns();
        assert_eq!([1, 2, 3, 4].map(longest), [9, 99, 199, 199]);
        assert_eq!(backoff("rcp:1"), backoff("uniform:1"));
        assert_eq!(backoff("rcp:1,2,4,8").expect("a table").law(3), backoff("beb:8").expect("beb").law(3));
    }

    #[test]
    fn a_threshold_of_capture_is_read_in_hundredths() {
        for (text, read) in [("10dB", (1000, 400)), ("0.01 dB", (1, 400)), (" 100dB, 3.5 ", (10_000, 350))] {
            assert_eq!(capture(text), Ok(read), "{text}");
        }
        for text in ["", "10", "dB", "0dB", "0.001dB", "100.01dB", "nandB", "-1dB", "10dB,", "10dB,0.9", "10dB,4,4"] {
            assert!(capture(text).is_err(), "{text}");
        }
    }

    /// The delay b^c of c collisions, and the same each time.
    #[test]
    fn what_is_not_random_waits_the_same_each_time() {
        let waits = |text: &str, failures| {
            let law = backoff(text).expect(text).law(failures).expect("no limit");
            assert_eq!(law.shortest_ns(), law.longest_ns());
            law.longest_ns()
        };
        assert_eq!([1, 2, 3, 4, 9].map(|failures| waits("fixed:2,3", failures)), [2, 4, 8, 8, 8]);
        assert_eq!([1, 7].map(|failures| waits("constant:4", failures)), [4, 4]);
    }

    #[test]
    fn a_persistence_is_read_as_people_write_it_and_comes_back() {
        for text in ["1", "non", "0.1", "0.03", "0.0001", "0.123456", "1.0"] {
            assert_eq!(persistence_name(persistence(text).expect(text)), text);
        }
        for text in ["", "0", "-1", "1.5", "2", "p", "0.00001", "0.1234567", "nan"] {
            assert!(persistence(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_control_is_read_as_people_write_it_and_comes_back() {
        for text in ["known", "estimated", "estimated:0.3", "estimated:0.000001", "estimated:0.999999"] {
            assert_eq!(control_name(control(text).expect(text)), text);
        }
        for text in ["", "unknown", "0.3", "estimated:", "estimated:0", "estimated:1", "estimated:nan", "estimated:-1"]
        {
            assert!(control(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_802_11_has_is_read_as_people_write_it() {
        for layer in Phy::ALL {
            assert_eq!(phy(layer.name()), Ok(layer));
        }
        assert!(phy("ofdm-7").expect_err("no such rate").contains("write `dsss-1`"));
        assert_eq!(window("32:1024"), Ok((32, 1024)));
        for text in ["", "32", "0:16", "64:32", "1:65537", "a:b", "32:1024:1"] {
            assert!(window(text).is_err(), "{text}");
        }
        assert_eq!(retry_limits("7:4").map(|(short, long)| (short.get(), long.get())), Ok((7, 4)));
        for text in ["", "7", "0:4", "7:256"] {
            assert!(retry_limits(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_backoff_is_named_with_what_would_be_right() {
        for text in [
            "",
            "uniform",
            "uniform:0",
            "uniform:-1",
            "uniform:+3",
            "geometric:x",
            "beb:25",
            "beb:1",
            "beb:33554432",
            "exponential:3",
            "exponential:1,3",
            "exponential:10,9",
            "rcp-multipliers:10000,10000",
            "rcp:",
            "rcp:1,,2",
            "exp:3",
            "constant:0",
            "fixed:1,4",
            "fixed:2,25",
            "fixed:2",
        ] {
            let error = backoff(text).expect_err(text);
            assert!(error.starts_with(&format!("`{text}` is no backoff: write `uniform:20`")), "{error}");
        }
        let many = "rcp:".to_owned() + &["2"; 17].join(",");
        assert!(backoff(&many).is_err());
    }
}
