//! What one namespace learns about the interfaces in others.

mod common;

use common::{Offloads, STATION_INTERFACE, lab, skipped, until};
use link::MacAddr;
use link::netlink::{LinkNews, LinkWatch};
use link::station::StationSocket;

/// The waiting news of a station's interface, in order.
fn news_of(watch: &mut LinkWatch, index: u32, namespace: i32) -> Vec<LinkNews> {
    let news = watch.poll().unwrap();
    news.into_iter().filter(|news| (news.index, news.namespace) == (index, namespace)).collect()
}

/// No flag of the interface shows tcpdump's promiscuous mode; only its promiscuity count does.
#[test]
fn who_listens_to_everything_in_another_namespace_is_told_before_it_hears_anything() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    let mut watch = LinkWatch::from_fd(LinkWatch::open(&lab.bus).unwrap().into_fd());
    let numbers: Vec<i32> = lab.stations.iter().map(|station| station.pair.namespace.unwrap()).collect();
    assert_ne!(numbers[0], numbers[1]);
    let (index, second) = (lab.stations[1].pair.station_index, numbers[1]);
    watch.poll().unwrap();
    let ear = StationSocket::open_promiscuous(&lab.stations[1].namespace, STATION_INTERFACE).unwrap();
    // No waiting: the news is there when the call that switches promiscuity on returns.
    let told = news_of(&mut watch, index, second);
    assert_eq!(told.last().unwrap().state.as_ref().unwrap().promiscuity, 1, "{told:?}");
    drop(ear);
    until(|| {
        let told = news_of(&mut watch, index, second);
        told.last().is_some_and(|news| news.state.as_ref().unwrap().promiscuity == 0)
    });
    let station = &mut lab.stations[1].netlink;
    let bridge = station.create_hub("br0").unwrap();
    station.set_bridge(index, bridge).unwrap();
    let told = news_of(&mut watch, index, second);
    let state = told.last().unwrap().state.as_ref().unwrap();
    assert!(state.controlled && state.promiscuity == 1, "{told:?}");
    assert_eq!((state.mac, state.lower), (Some(MacAddr::new(2, 0, 0, 0, 0, 2)), None));
    station.delete(index).unwrap();
    until(|| news_of(&mut watch, index, second).iter().any(|news| news.state.is_none()));
}
