//! The text of values whose derived form would not be what people write.

/// A fault, or `none`.
pub mod fault_or_none {
    use crate::fault::Fault;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(fault: &Option<Fault>, serializer: S) -> Result<S::Ok, S::Error> {
        match fault {
            Some(fault) => serializer.collect_str(fault),
            None => serializer.serialize_str("none"),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Fault>, D::Error> {
        Fault::read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A place where the cable is cut, or that it is mended.
pub mod cut_or_mend {
    use crate::topology::segments::Place;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Written {
        Cut(Place),
        Mend(bool),
    }

    pub fn serialize<S: Serializer>(cut: &Option<Place>, serializer: S) -> Result<S::Ok, S::Error> {
        cut.map_or(Written::Mend(true), Written::Cut).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Place>, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Cut(place) => Ok(Some(place)),
            Written::Mend(true) => Ok(None),
            Written::Mend(false) => Err(serde::de::Error::custom("`mend` is true, or not there")),
        }
    }
}

/// The name of a station that joins.
pub mod joiner_name {
    use crate::deed::Joiner;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    type Name = [u8; Joiner::LONGEST];

    pub fn serialize<S: Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Joiner::text(name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let name = String::deserialize(deserializer)?;
        Joiner::octets(&name).ok_or_else(|| D::Error::custom(format_args!("no station can be called `{name}`")))
    }
}

/// An address, like `02:eb:00:00:00:01`.
pub mod address {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(address: &[u8; 6], serializer: S) -> Result<S::Ok, S::Error> {
        let [a, b, c, d, e, f] = address;
        serializer.collect_str(&format_args!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 6], D::Error> {
        let text = String::deserialize(deserializer)?;
        let octet = |text: &str| u8::from_str_radix(text, 16).ok().filter(|_| text.len() == 2);
        let octets: Option<Vec<u8>> = text.split(':').map(octet).collect();
        let address = octets.and_then(|octets| octets.try_into().ok());
        address.ok_or_else(|| D::Error::custom(format_args!("`{text}` is no address")))
    }
}
