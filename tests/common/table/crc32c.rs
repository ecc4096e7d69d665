//! The checksums of blocks.
//!
//! Mirrors `util/crc32c.cc` and `util/crc32c.h`.

/// The CRC-32C of `data`, masked as LevelDB stores it, since a CRC of bytes that contain CRCs is
/// weak.
pub(super) fn masked_crc32c(data: &[u8]) -> u32 {
    let crc = !data.iter().fold(!0, |crc: u32, &byte| {
        (crc >> 8) ^ CRC32C_TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)]
    });
    crc.rotate_right(15).wrapping_add(0xa282ead8)
}

static CRC32C_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 0 { 0 } else { 0x82f63b78 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};
