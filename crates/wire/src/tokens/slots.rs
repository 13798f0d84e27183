//! Where a token's bytes are looked for in the table of a vocabulary. The build script that writes the table uses this file too.

/// A power of two, more than twice the tokens there are, so that few slots are looked at in vain.
pub(crate) const SLOTS: usize = 1 << 19;
/// A slot holds the number of its token plus one below this, and above it a mark that tells most other tokens apart.
pub(crate) const NUMBERS: u32 = (1 << 18) - 1;

/// The first slot of a token, and its mark.
pub(crate) fn place(token: &[u8]) -> (usize, u32) {
    let mut hash = (token.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for chunk in token.chunks(8) {
        let word = chunk
            .iter()
            .rev()
            .fold(0, |word: u64, byte| word << 8 | u64::from(*byte));
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    (hash as usize & (SLOTS - 1), (hash >> 32) as u32 & !NUMBERS)
}

/// The slot to look at next.
pub(crate) fn next(slot: usize) -> usize {
    (slot + 1) & (SLOTS - 1)
}
