//! What a container runtime says to the plugin: a command and three variables, each up to a NUL, and then a network.
use live::containers::cni::COMMAND;
use live::containers::cni::request::Request;

pub fn run(data: &[u8]) {
    let mut parts = data.splitn(6, |octet| *octet == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let given = [COMMAND, "CNI_CONTAINERID", "CNI_IFNAME", "CNI_NETNS", "CNI_ARGS"].map(|name| (name, text()));
    let network = parts.next().unwrap_or_default();
    let variable = |name: &str| given.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
    let Ok(request) = Request::read(variable, network) else { return };
    // These become the names of a file and of a folder.
    for name in [&request.attachment.container, &request.attachment.ifname, &request.network.name] {
        assert!(!name.contains(['/', '+', '\0']) && !name.starts_with('.'), "{request:?}");
    }
}
