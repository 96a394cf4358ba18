//! How senders on a slotted medium wait after an unsuccessful attempt, as people write it: `uniform:20`, `rcp:10,100,200`.

use backoff::Policy;
use medium::SlottedAloha;

/// The most slots to choose from.
const MOST: u32 = 1 << 24;
/// As of 802.3, unless said otherwise.
const DEFAULT_LIMIT: u32 = 10;
const HIGHEST_LIMIT: u32 = 24;
/// Entries that a table of intervals may have.
const ENTRIES: usize = 16;

/// Reads `uniform:K`, `geometric:K`, `beb`, `beb:LIMIT` or `rcp:K1,K2,…`.
///
/// # Errors
/// Anything else, and what would be right.
pub fn backoff(text: &str) -> Result<Policy, String> {
    let wrong = || {
        format!(
            "`{text}` is no backoff: write `uniform:20` (one of the next 20 slots), `geometric:20`, `beb`, or `rcp:10,100,200`"
        )
    };
    let slots = |text: &str| {
        let text = text.trim();
        let digits = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        text.parse().ok().filter(|slots| digits && (1..=MOST).contains(slots))
    };
    match text.trim().split_once(':') {
        None if text.trim() == "beb" => Some(Policy::slot_exponential(SlottedAloha::SLOT, 2, DEFAULT_LIMIT)),
        Some(("beb", limit)) => {
            let limit = slots(limit).filter(|limit| *limit <= HIGHEST_LIMIT);
            limit.map(|limit| Policy::slot_exponential(SlottedAloha::SLOT, 2, limit))
        }
        Some(("uniform", k)) => slots(k).map(|k| Policy::aloha_uniform(SlottedAloha::SLOT, k)),
        Some(("geometric", k)) => slots(k).map(|k| Policy::aloha_geometric(SlottedAloha::SLOT, k)),
        Some(("rcp", table)) => {
            let table: Option<Vec<u32>> = table.split(',').map(slots).collect();
            table.and_then(|table| Policy::rcp_of(SlottedAloha::SLOT, &table))
        }
        _ => None,
    }
    .ok_or_else(wrong)
}

/// The text that [`backoff()`] reads as this policy; none for a policy that it never gives.
pub fn name(policy: &Policy) -> Option<String> {
    let law = |failures: usize| policy.law(failures as u64);
    let table: Vec<u32> = (1..=ENTRIES).map_while(|n| u32::try_from(law(n)?.longest_ns() + 1).ok()).collect();
    let as_table = (1..=table.len()).find(|&n| Policy::rcp_of(SlottedAloha::SLOT, &table[..n]) == Some(*policy));
    if let Some(entries) = as_table {
        let entries: Vec<String> = table[..entries].iter().map(u32::to_string).collect();
        return Some(if let [only] = &entries[..] {
            format!("uniform:{only}")
        } else {
            format!("rcp:{}", entries.join(","))
        });
    }
    if let Some(limit) =
        (1..=HIGHEST_LIMIT).find(|&limit| Policy::slot_exponential(SlottedAloha::SLOT, 2, limit) == *policy)
    {
        return Some(if limit == DEFAULT_LIMIT { "beb".to_owned() } else { format!("beb:{limit}") });
    }
    // The mean of a uniform choice from K slots is (K − 1)/2.
    let slots = (2.0 * law(1)?.mean_ns()).round() as u32 + 1;
    (Policy::aloha_geometric(SlottedAloha::SLOT, slots) == *policy).then(|| format!("geometric:{slots}"))
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
            "rcp:10,100,200",
            "rcp:1,10,10,5",
        ] {
            let policy = backoff(text).expect(text);
            assert_eq!(name(&policy).as_deref(), Some(text));
        }
        assert_eq!(name(&backoff(" rcp: 7").expect("one entry")).as_deref(), Some("uniform:7"));
        assert_eq!(name(&Policy::SIP_TIMER_E), None);
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
            "rcp:",
            "rcp:1,,2",
            "exp:3",
        ] {
            let error = backoff(text).expect_err(text);
            assert!(error.starts_with(&format!("`{text}` is no backoff: write `uniform:20`")), "{error}");
        }
        let many = "rcp:".to_owned() + &["1"; 17].join(",");
        assert!(backoff(&many).is_err());
    }
}
