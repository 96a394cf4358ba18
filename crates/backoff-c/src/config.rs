//! How a configuration is read: its size first, so that programs and libraries of different versions understand
//! each other, and 0 for every default.

use core::mem::MaybeUninit;

use crate::Status;

/// More than any version will have; a larger size is a mistake, and nothing is read that far.
const LARGEST: usize = 4096;

/// A struct whose first field is its size, and whose every field may hold any bits.
///
/// # Safety
/// It begins with a `u32`, all bits are valid in all of its fields, and it has no padding.
pub(crate) unsafe trait Sized32 {
    /// Its size in the first version of the library. Later fields lie behind.
    const FIRST: usize;
}

/// What `take` makes of the configuration, if this library can understand it: of an earlier version, whose later fields
/// are then 0; or of a later one, whose fields that are not known here must be 0.
///
/// # Safety
/// `config` is NULL, or aligned and valid for reads of as many octets as its first field says, and no thread writes to
/// it during the call.
#[inline]
pub(crate) unsafe fn read<T: Sized32, R>(
    config: *const T,
    take: impl FnOnce(&T) -> Result<R, Status>,
) -> Result<R, Status> {
    if config.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above, `config` begins with its size; only that much is read here.
    let size = unsafe { config.cast::<u32>().read() } as usize;
    let mut grown = MaybeUninit::<T>::uninit();
    let mut known = config;
    if size != size_of::<T>() {
        let words = grown.as_mut_ptr().cast::<u32>();
        // SAFETY: by the contract above, it is valid for its size; and `grown` has room for a `T`, which is whole words.
        let status = unsafe { other_version(config.cast(), size, T::FIRST, size_of::<T>(), words) };
        if status != Status::Ok {
            return Err(status);
        }
        known = grown.as_ptr();
    }
    // SAFETY: it is the configuration, which is as large as a `T`, or what has just been written; and every bit pattern is a
    // `T`.
    take(unsafe { &*known })
}

/// Writes the configuration of another version as one of this version, which has `known` octets; `first` is how many it had
/// at first. Apart, and not made anew for each struct: the library is small.
///
/// # Safety
/// `config` is aligned and valid for reads of `size` octets, and `words` for writes of `known`, which are whole words.
#[cold]
#[inline(never)]
unsafe fn other_version(config: *const u32, size: usize, first: usize, known: usize, words: *mut u32) -> Status {
    if !(first..=LARGEST).contains(&size) {
        return Status::ConfigSize;
    }
    let octets = config.cast::<u8>();
    for octet in known..size {
        // SAFETY: by the contract above, the configuration is valid for `size` octets.
        if unsafe { octets.add(octet).read() } != 0 {
            return Status::ConfigSize;
        }
    }
    for word in 0..known / size_of::<u32>() {
        // SAFETY: the configuration is valid for `size` octets, whole words in any version. Volatile, so that this is
        // not turned into calls of memcpy and memset, which the library has not.
        unsafe {
            let is_known = (word + 1) * size_of::<u32>() <= size;
            words.add(word).write_volatile(if is_known { config.add(word).read() } else { 0 });
        }
    }
    Status::Ok
}

/// A field that is 0 means its default.
pub(crate) const fn or_default(field: u32, default: u32) -> u32 {
    if field == 0 { default } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration that had two fields at first; the third has come since.
    #[repr(C)]
    struct Grown {
        size: u32,
        first: u32,
        added: u32,
    }

    // SAFETY: it begins with its size, and has integers only.
    unsafe impl Sized32 for Grown {
        const FIRST: usize = 8;
    }

    /// What is read of these words, each 4 octets: the size, then the fields.
    fn read_of(words: &[u32]) -> Result<(u32, u32, u32), Status> {
        assert!(words[0] as usize <= size_of_val(words) || words[0] as usize > LARGEST || words[0] < 8);
        // SAFETY: they are valid for the size they say, which has just been looked at, or it is refused unread.
        unsafe { read(words.as_ptr().cast::<Grown>(), |grown| Ok((grown.size, grown.first, grown.added))) }
    }

    /// A program that was compiled before the field was there: the field is 0, whatever lies behind the struct.
    #[test]
    fn a_configuration_of_the_first_version_is_read_with_0_for_what_came_later() {
        assert_eq!(read_of(&[8, 7, 0x5555_5555]), Ok((8, 7, 0)));
        assert_eq!(read_of(&[12, 7, 9]), Ok((12, 7, 9)));
    }

    /// A program that was compiled against a later header.
    #[test]
    fn a_later_configuration_is_read_if_the_rest_is_0() {
        assert_eq!(read_of(&[20, 7, 9, 0, 0]), Ok((20, 7, 9)));
        assert_eq!(read_of(&[20, 7, 9, 0, 1]), Err(Status::ConfigSize));
        assert_eq!(read_of(&[16, 7, 9, 0, 1]), Ok((16, 7, 9)), "behind its end is not looked at");
    }

    /// Smaller than any version was, or larger than one will be.
    #[test]
    fn other_sizes_are_refused() {
        for size in [0, 1, 4, 7, 4097, u32::MAX] {
            assert_eq!(read_of(&[size, 7, 9]), Err(Status::ConfigSize), "{size}");
        }
        // SAFETY: NULL is refused.
        let null = unsafe { read(core::ptr::null::<Grown>(), |grown| Ok(grown.size)) };
        assert_eq!(null, Err(Status::NullPointer));
    }
}
