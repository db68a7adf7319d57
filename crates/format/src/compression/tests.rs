use proptest::prelude::*;

use super::*;
use crate::error::FormatErrorKind;

/// 320 bytes that every method compresses well.
fn text() -> Vec<u8> {
    b"terrace ".repeat(40)
}

/// `text()` as other programs compress it.
const TEXT_AS_ZLIB: &[u8] =
    b"\x78\x9c\x2b\x49\x2d\x2a\x4a\x4c\x4e\x55\x28\x19\xa5\xc9\xa2\x01\x0a\xf4\x78\xf1";
const TEXT_AS_DEFLATE: &[u8] = b"\x2b\x49\x2d\x2a\x4a\x4c\x4e\x55\x28\x19\xa5\xc9\xa2\x01";
/// Literal of 8, then a match of 307 at distance 8, then a literal of 5.
const TEXT_AS_LZ4: &[u8] = b"\x40\x01\0\0\x8fterrace \x08\x00\xff\x21\x50race ";
/// Literal of 8, then four copies of 64 and one of 56 at distance 8.
const TEXT_AS_SNAPPY: &[u8] =
    b"\xc0\x02\x1cterrace \xfe\x08\x00\xfe\x08\x00\xfe\x08\x00\xfe\x08\x00\xde\x08\x00";

fn corrupt(id: u8, input: &[u8], ids: CompressionIds) -> String {
    let error = decompress(id, input, ids).unwrap_err();
    assert_eq!(error.kind, FormatErrorKind::Corrupt, "{error}");
    error.to_string()
}

fn is_unsupported(id: u8, input: &[u8], ids: CompressionIds) -> bool {
    decompress(id, input, ids).is_err_and(|error| error.kind == FormatErrorKind::Unsupported)
}

#[test]
fn what_other_programs_compressed_is_read() {
    for (id, input, ids) in [
        (0, &text()[..], CompressionIds::LevelDb),
        (0, &text(), CompressionIds::Basho),
        (3, &text(), CompressionIds::Basho),
        (1, TEXT_AS_SNAPPY, CompressionIds::LevelDb),
        (1, TEXT_AS_SNAPPY, CompressionIds::Basho),
        (2, TEXT_AS_ZLIB, CompressionIds::LevelDb),
        (2, TEXT_AS_LZ4, CompressionIds::Basho),
        (4, TEXT_AS_DEFLATE, CompressionIds::LevelDb),
    ] {
        assert_eq!(decompress(id, input, ids), Ok(text()), "id {id}, {ids:?}");
    }
}

#[test]
fn an_id_that_the_writer_does_not_have_is_unsupported() {
    for id in [3, 5, 255] {
        assert!(is_unsupported(id, &text(), CompressionIds::LevelDb), "id {id}");
    }
    for id in [4, 5, 255] {
        assert!(is_unsupported(id, TEXT_AS_DEFLATE, CompressionIds::Basho), "id {id}");
    }
    // LZ4 where zstd or zlib is expected.
    assert!(is_unsupported(2, TEXT_AS_LZ4, CompressionIds::LevelDb));
    assert!(is_unsupported(2, b"", CompressionIds::LevelDb));
}

#[test]
fn what_does_not_become_smaller_by_an_eighth_is_stored_as_it_is() {
    let mut out = b"left over".to_vec();
    assert_eq!(compress(&Compression::None, &text(), &mut out), NONE_ID);
    assert_eq!(out, b"");
    for input in [&b""[..], b"a", &(0..=255).collect::<Vec<u8>>()] {
        for compression in [Compression::Snappy, Compression::Zstd { level: 1 }] {
            assert_eq!(compress(&compression, input, &mut out), NONE_ID);
            assert_eq!(out, b"");
        }
    }
}

#[test]
fn saving_exactly_an_eighth_is_not_enough() {
    let mut out = Vec::new();
    let mut has_compressed = false;
    // More and more zeros after incompressible bytes: the saving passes the eighth.
    for zeros in 0..100 {
        let mut input: Vec<u8> = (0..=255).collect();
        input.resize(256 + zeros, 0);
        let id = compress(&Compression::Snappy, &input, &mut out);
        let size = snap::raw::Encoder::new().compress_vec(&input).unwrap().len();
        assert_eq!(id == SNAPPY_ID, size < input.len() - input.len() / 8, "{zeros} zeros");
        assert_eq!(out.len(), if id == SNAPPY_ID { size } else { 0 });
        has_compressed |= id == SNAPPY_ID;
    }
    assert!(has_compressed);
}

#[test]
fn snappy_that_lies_about_its_size_is_refused() {
    for size in ["\x7f", "\u{0}"] {
        let input = [size.as_bytes(), b"\x1cterrace "].concat();
        corrupt(1, &input, CompressionIds::LevelDb);
    }
    corrupt(1, b"", CompressionIds::LevelDb);
    // 4 GiB - 1 is above the limit. 1 GiB is within the limit, but nine bytes cannot expand to it.
    let message = corrupt(1, b"\xff\xff\xff\xff\x0f\x1cterrace ", CompressionIds::LevelDb);
    assert!(message.contains("4294967295 bytes decompressed, more than"), "{message}");
    let message = corrupt(1, b"\x80\x80\x80\x80\x04\x1cterrace ", CompressionIds::LevelDb);
    assert!(message.contains("1073741824 bytes decompressed cannot come out of 14"), "{message}");
}

#[test]
fn lz4_that_lies_about_its_size_is_refused() {
    for size in [0u32, 319, 321, 2000, 1 << 30, u32::MAX] {
        let mut input = TEXT_AS_LZ4.to_vec();
        input[..4].copy_from_slice(&size.to_le_bytes());
        corrupt(2, &input, CompressionIds::Basho);
    }
    corrupt(2, &TEXT_AS_LZ4[..3], CompressionIds::Basho);
    corrupt(2, &TEXT_AS_LZ4[..20], CompressionIds::Basho);
}

#[test]
fn the_best_possible_expansion_is_not_refused() {
    let zeros = vec![0; 1 << 20];
    let mut out = Vec::new();
    assert_eq!(compress(&Compression::Snappy, &zeros, &mut out), SNAPPY_ID);
    assert_eq!(decompress(SNAPPY_ID, &out, CompressionIds::LevelDb).as_ref(), Ok(&zeros));
    let lz4 = lz4_flex::block::compress_prepend_size(&zeros);
    assert_eq!(decompress(2, &lz4, CompressionIds::Basho), Ok(zeros));
}

fn deflated(input: &[u8], has_zlib_header: bool) -> Vec<u8> {
    let mut stream = flate2::Compress::new(flate2::Compression::best(), has_zlib_header);
    let mut out = Vec::with_capacity(input.len() + 1000);
    let status = stream.compress_vec(input, &mut out, flate2::FlushCompress::Finish).unwrap();
    assert_eq!(status, Status::StreamEnd);
    out
}

#[test]
fn a_stream_of_unknown_size_is_read_in_steps() {
    for size_bytes in [0, 1, FIRST_STEP_BYTES - 1, FIRST_STEP_BYTES, FIRST_STEP_BYTES + 1, 3_000_000] {
        let input: Vec<u8> = (0..size_bytes).map(|n| (n % 251) as u8).collect();
        assert!(
            decompress(2, &deflated(&input, true), CompressionIds::LevelDb) == Ok(input.clone()),
            "{size_bytes}"
        );
        assert!(
            decompress(4, &deflated(&input, false), CompressionIds::LevelDb) == Ok(input),
            "{size_bytes}"
        );
    }
}

#[test]
fn a_stream_stops_at_the_limit() {
    let bomb = deflated(&vec![0; 1 << 20], false);
    assert!(bomb.len() < 2000);
    for limit in [0, 1, 1000, FIRST_STEP_BYTES, 3 * FIRST_STEP_BYTES, (1 << 20) - 1] {
        let error = inflate("deflate block", Decompress::new(false), &bomb, limit).unwrap_err();
        assert_eq!(error.problem, "more bytes decompressed than a block may have", "limit {limit}");
    }
    for limit in [1 << 20, (1 << 20) + 1, 1 << 30] {
        assert_eq!(inflate("deflate block", Decompress::new(false), &bomb, limit).unwrap().len(), 1 << 20);
    }
    assert_eq!(inflate("deflate block", Decompress::new(false), &deflated(b"", false), 0), Ok(Vec::new()));
}

#[test]
fn a_stream_that_is_cut_off_or_damaged_is_refused() {
    for length in 2..TEXT_AS_ZLIB.len() {
        corrupt(2, &TEXT_AS_ZLIB[..length], CompressionIds::LevelDb);
    }
    for length in 0..TEXT_AS_DEFLATE.len() {
        corrupt(4, &TEXT_AS_DEFLATE[..length], CompressionIds::LevelDb);
    }
    let mut damaged = TEXT_AS_ZLIB.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    corrupt(2, &damaged, CompressionIds::LevelDb);
}

#[test]
fn blocks_for_minecraft_are_raw_deflate() {
    let mut out = Vec::new();
    for input in [text(), text().repeat(3_000), b"aaaaaaaaaaaaaaaa".to_vec()] {
        assert_eq!(compress(&Compression::Deflate, &input, &mut out), DEFLATE_ID);
        assert_eq!(decompress(DEFLATE_ID, &out, CompressionIds::LevelDb), Ok(input));
    }
    assert_eq!(compress(&Compression::Deflate, b"short", &mut out), NONE_ID, "it would not save an eighth");
    assert!(out.is_empty());
    assert!(is_bedrocks(DEFLATE_ID, &out) && is_bedrocks(ZSTD_ID, TEXT_AS_ZLIB));
    assert!(!is_bedrocks(ZSTD_ID, &ZSTD_MAGIC) && !is_bedrocks(SNAPPY_ID, TEXT_AS_SNAPPY));
}

#[cfg(feature = "zstd")]
mod zstd_blocks {
    use super::*;

    /// `text()` as the zstd program compresses it; the first states its size, the second does not.
    const TEXT_WITH_SIZE: &[u8] =
        b"\x28\xb5\x2f\xfd\x60\x40\x00\x7d\x00\x00\x40terrace \x01\x00\x35\x53\x0b\x17";
    const TEXT_WITHOUT_SIZE: &[u8] =
        b"\x28\xb5\x2f\xfd\x00\x58\x7d\x00\x00\x40terrace \x01\x00\x35\x53\x0b\x17";

    #[test]
    fn frames_with_and_without_size_are_read() {
        assert_eq!(decompress(2, TEXT_WITH_SIZE, CompressionIds::LevelDb), Ok(text()));
        assert_eq!(decompress(2, TEXT_WITHOUT_SIZE, CompressionIds::LevelDb), Ok(text()));
    }

    #[test]
    fn our_frames_state_their_size() {
        let mut out = Vec::new();
        for level in [-5, 0, 1, 3, 19] {
            assert_eq!(compress(&Compression::Zstd { level }, &text(), &mut out), ZSTD_ID);
            assert_eq!(zstd::zstd_safe::get_frame_content_size(&out).ok(), Some(Some(320)));
            assert_eq!(decompress(ZSTD_ID, &out, CompressionIds::LevelDb), Ok(text()), "level {level}");
        }
        assert_eq!(Compression::Zstd { level: 1 }.check_supported(), Ok(()));
    }

    #[test]
    fn large_blocks_are_read() {
        let value: Vec<u8> = (0..9_000_000u32).map(|n| (n / 7 % 251) as u8).collect();
        let mut block = crate::block::BlockBuilder::new(16);
        block.add(b"key", &value);
        let input = block.finish().to_vec();
        let mut out = Vec::new();
        assert_eq!(compress(&Compression::Zstd { level: 1 }, &input, &mut out), ZSTD_ID);
        assert!(decompress(ZSTD_ID, &out, CompressionIds::LevelDb) == Ok(input));
    }

    #[test]
    fn a_frame_that_lies_about_its_size_is_refused() {
        for size in [0u16, 319 - 256, 321 - 256, 0xffff] {
            let mut input = TEXT_WITH_SIZE.to_vec();
            input[5..7].copy_from_slice(&size.to_le_bytes());
            corrupt(2, &input, CompressionIds::LevelDb);
        }
        // Frame headers with a size of eight bytes: 2^40, then 1 GiB, which is within the limit but not there.
        let message = corrupt(2, b"\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\x01\0\0\x01\0\0", CompressionIds::LevelDb);
        assert!(message.contains("1099511627776 bytes decompressed, more than"), "{message}");
        corrupt(2, b"\x28\xb5\x2f\xfd\xe0\0\0\0\x40\0\0\0\0\x01\0\0", CompressionIds::LevelDb);
    }

    #[test]
    fn bytes_after_the_stated_size_are_refused() {
        // The library reads consecutive frames as one content; the size of the first one stands for all.
        for size_bytes in [1000, 5 << 20] {
            let mut frame = Vec::new();
            assert_eq!(compress(&Compression::Zstd { level: 1 }, &vec![0; size_bytes], &mut frame), ZSTD_ID);
            corrupt(2, &frame.repeat(2), CompressionIds::LevelDb);
        }
    }

    #[test]
    fn a_frame_without_size_stops_at_the_limit() {
        assert_eq!(zstd_block::decompress_in_steps(TEXT_WITHOUT_SIZE, 320).unwrap(), text());
        let error = zstd_block::decompress_in_steps(TEXT_WITHOUT_SIZE, 319).unwrap_err();
        assert_eq!(error.to_string(), "more bytes decompressed than a block may have");
    }

    #[test]
    fn a_large_frame_of_zeros_is_refused_at_its_beginning_and_a_large_value_of_zeros_is_read() {
        let mut frame = Vec::new();
        let compression = Compression::Zstd { level: 1 };
        assert_eq!(compress(&compression, &vec![0; 64 << 20], &mut frame), ZSTD_ID);
        assert!(frame.len() < 8 << 10);
        let error = decompress(ZSTD_ID, &frame, CompressionIds::LevelDb).unwrap_err();
        assert!(error.problem.contains("not a block of entries"), "{error:?}");
        let mut block = crate::block::BlockBuilder::new(16);
        block.add(b"key", &vec![0; 8 << 20]);
        let block = block.finish().to_vec();
        assert_eq!(compress(&compression, &block, &mut frame), ZSTD_ID);
        assert_eq!(decompress(ZSTD_ID, &frame, CompressionIds::LevelDb), Ok(block));
    }

    #[test]
    fn a_frame_that_is_cut_off_is_refused() {
        for whole in [TEXT_WITH_SIZE, TEXT_WITHOUT_SIZE] {
            for length in 4..whole.len() {
                corrupt(2, &whole[..length], CompressionIds::LevelDb);
            }
        }
    }
}

#[cfg(not(feature = "zstd"))]
#[test]
fn without_the_feature_zstd_is_unsupported() {
    assert!(is_unsupported(2, b"\x28\xb5\x2f\xfd\x60\x40\x00", CompressionIds::LevelDb));
    let compression = Compression::Zstd { level: 1 };
    assert_eq!(compression.check_supported().unwrap_err().kind, FormatErrorKind::Unsupported);
    assert_eq!(compress(&compression, &text(), &mut Vec::new()), NONE_ID);
}

#[test]
fn the_other_methods_are_always_supported() {
    assert_eq!(Compression::None.check_supported(), Ok(()));
    assert_eq!(Compression::Snappy.check_supported(), Ok(()));
}

fn compressible() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::collection::vec(any::<u8>(), 1..40);
    (piece, 1usize..200).prop_map(|(piece, times)| piece.repeat(times))
}

proptest! {
    #[test]
    fn what_is_compressed_is_read_back(input in compressible(), level in -3i32..6) {
        let mut out = Vec::new();
        for compression in [Compression::None, Compression::Snappy, Compression::Zstd { level }] {
            let id = compress(&compression, &input, &mut out);
            let stored = if id == NONE_ID { &input } else { &out };
            prop_assert_eq!(&decompress(id, stored, CompressionIds::LevelDb).unwrap(), &input);
        }
        let lz4 = lz4_flex::block::compress_prepend_size(&input);
        prop_assert_eq!(decompress(2, &lz4, CompressionIds::Basho).unwrap(), input);
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        id in 0u8..6,
        is_basho in any::<bool>(),
        magic in proptest::sample::select(vec![&b""[..], &ZSTD_MAGIC, b"\x78\x9c", b"\x40\x01", b"\x40\x01\0\0"]),
        input in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let ids = if is_basho { CompressionIds::Basho } else { CompressionIds::LevelDb };
        let _ = decompress(id, &[magic, &input].concat(), ids);
    }

    #[test]
    fn flipped_bits_are_read_without_panic(
        input in compressible(),
        position in any::<proptest::sample::Index>(),
        bit in 0u8..8,
    ) {
        let mut blocks = vec![
            (2, deflated(&input, true), CompressionIds::LevelDb),
            (4, deflated(&input, false), CompressionIds::LevelDb),
            (2, lz4_flex::block::compress_prepend_size(&input), CompressionIds::Basho),
        ];
        for compression in [Compression::Snappy, Compression::Zstd { level: 1 }] {
            let mut out = Vec::new();
            blocks.push((compress(&compression, &input, &mut out), out, CompressionIds::LevelDb));
        }
        for (id, mut block, ids) in blocks {
            if !block.is_empty() {
                let position = position.index(block.len());
                block[position] ^= 1 << bit;
            }
            let _ = decompress(id, &block, ids);
        }
    }
}

#[test]
fn memory_of_another_block_does_not_show_in_the_next() {
    let mut memory = bytes::BytesMut::new();
    let mut compressed = Vec::new();
    for size_bytes in [5_000, 100, 4_999, 6_000, 1, 300] {
        let input = vec![size_bytes as u8; size_bytes];
        for compression in [Compression::Snappy, Compression::None] {
            let id = compress(&compression, &input, &mut compressed);
            let stored = if id == NONE_ID { &input } else { &compressed };
            let out = decompress_into(id, stored, CompressionIds::LevelDb, &mut memory).unwrap();
            assert_eq!(out, input);
            memory = out.try_into_mut().unwrap();
        }
    }
    let id = compress(&Compression::Snappy, &[7; 400], &mut compressed);
    let cut_off = &compressed[..compressed.len() - 1];
    assert!(decompress_into(id, cut_off, CompressionIds::LevelDb, &mut memory).is_err());
}
