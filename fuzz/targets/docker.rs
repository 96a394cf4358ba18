//! What Docker's daemon says to the network driver: the path up to a NUL, and then the body.
use live::containers::docker::call::Call;

pub fn run(data: &[u8]) {
    let at = data.iter().position(|octet| *octet == 0).unwrap_or(data.len());
    let (path, body) = (String::from_utf8_lossy(&data[..at]), data.get(at + 1..).unwrap_or_default());
    let Ok(call) = Call::read(&path, body) else { return };
    // These become the names of a file and of an interface.
    if let Call::Join(endpoint) = call {
        assert!(endpoint.network.bytes().chain(endpoint.id.bytes()).all(|octet| octet.is_ascii_alphanumeric()));
        assert!(endpoint.interface().len() <= 15, "{endpoint:?}");
    }
}
