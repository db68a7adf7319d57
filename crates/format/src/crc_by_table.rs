//! crc32c from tables, eight bytes a step: for processors without an instruction for it that `crc-fast` knows. The method is
//! Kounavis and Berry's "slicing by 8" (2005). Eight tables of 256 numbers take 8 KiB.

/// The polynomial 0x1EDC6F41, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[n][byte]` is what `byte` adds to the state if `n` more bytes follow it in the step.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut state = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            state = if state & 1 == 1 { (state >> 1) ^ POLYNOMIAL } else { state >> 1 };
            bit += 1;
        }
        tables[0][byte] = state;
        byte += 1;
    }
    let mut following = 1;
    while following < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[following - 1][byte];
            tables[following][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        following += 1;
    }
    tables
}

/// Extends `crc`, the crc32c of some bytes, to the crc32c of those bytes followed by `bytes`.
pub(crate) fn extend(crc: u32, bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut state = !crc;
    for word in words {
        let sum = u64::from_le_bytes(*word) ^ u64::from(state);
        let folded = sum.to_le_bytes();
        state = 0;
        for (at, &byte) in folded.iter().enumerate() {
            state ^= TABLES[7 - at][usize::from(byte)];
        }
    }
    for &byte in tail {
        state = (state >> 8) ^ TABLES[0][((state ^ u32::from(byte)) & 0xff) as usize];
    }
    !state
}
