//! Quantities, traffic, places and addresses as people write them.
use study::sweep::expression::{Outcome, evaluate, filled};
use study::sweep::journal::History;
use study::sweep::part::{Shard, Span};
use study::sweep::values::{value_at, values};
use sim::scenario::file::{MacText, Network, PlaceText, TopologyText};
use sim::windows::capture::filter::Filter;
use sim::traffic::{Arrivals, Sizes, To};
use sim::words::units;

pub fn run(octets: &[u8]) {
    let text = super::text(octets);
    let _ = units::rate(text);
    let _ = units::duration(text);
    let _ = units::duration_or_zero(text);
    let _ = units::bit_times(text);
    let _ = units::length(text);
    let _ = units::speed(text);
    let _ = units::lab_name(text);
    let _ = units::frame_rate(text);
    let _ = units::fraction(text);
    let _ = (text.parse::<TopologyText>(), text.parse::<PlaceText>());
    if let Ok(Some(known)) = medium::Fault::read(text) {
        assert_eq!(medium::Fault::read(&known.to_string()), Ok(Some(known)));
    }
    let _ = (text.parse::<MacText>(), text.parse::<Network>());
    if let Ok(arrivals) = text.parse::<Arrivals>() {
        let _ = arrivals.check();
        // Below a microsecond a time has no unit that is read.
        let is_written = |time: std::time::Duration| time.subsec_nanos().is_multiple_of(1_000);
        if let Arrivals::Tcp(tcp) = &arrivals
            && is_written(tcp.think)
            && is_written(tcp.ack_delay)
        {
            assert_eq!(tcp.to_string().parse(), Ok(arrivals.clone()), "{text}");
        }
        let _ = arrivals.split(3);
    }
    if let Ok(sizes) = text.parse::<Sizes>()
        && sizes.check().is_ok()
    {
        assert!(sizes.mean_bit_times(medium::Octets::new(64)) >= 0.0 && sizes.longest().get() > 0);
    }
    let _ = Filter::read(text, &["st1", "st2"].map(str::to_owned));
    let key = |name: &str| (name == "stations").then(|| Outcome::of("4"));
    let _ = (evaluate(text, &key), filled(text, &key));
    let _ = (values(text).map(|values| values.len()), value_at(text, 0.75));
    let _ = History::of(text, 3);
    let _ = (text.parse::<Shard>(), text.parse::<Span>());
    let _ = To::read(text, &["st1", "st2"]);
}
