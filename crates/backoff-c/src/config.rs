//! How a configuration is read: its size first, so that programs and libraries of different versions understand
//! each other, and 0 for every default.

use crate::Status;

/// More than any version will have; a larger size is a mistake, and nothing is read that far.
const LARGEST: usize = 4096;

/// A struct whose first field is its size, and whose every field may hold any bits.
///
/// # Safety
/// It begins with a `u32`, and all bits are valid in all of its fields.
pub(crate) unsafe trait Sized32 {}

/// The configuration, if its size is one this library knows: what a later version has added must be 0 there.
///
/// # Safety
/// `config` is NULL, or aligned and valid for reads of as many octets as its first field says, and nobody writes to
/// it during `'a`.
pub(crate) unsafe fn read<'a, T: Sized32>(config: *const T) -> Result<&'a T, Status> {
    if config.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above, `config` begins with its size; only that much is read here.
    let size = unsafe { config.cast::<u32>().read() } as usize;
    if !(size_of::<T>()..=LARGEST).contains(&size) {
        return Err(Status::ConfigSize);
    }
    let octets = config.cast::<u8>();
    for octet in size_of::<T>()..size {
        // SAFETY: by the contract above, the configuration is valid for `size` octets.
        if unsafe { octets.add(octet).read() } != 0 {
            return Err(Status::ConfigSize);
        }
    }
    // SAFETY: it is valid for its size, which is at least that of `T`, and every bit pattern is a `T`.
    Ok(unsafe { &*config })
}

/// A field that is 0 means its default.
pub(crate) const fn or_default(field: u32, default: u32) -> u32 {
    if field == 0 { default } else { field }
}
