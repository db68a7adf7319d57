use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What the reference decoder makes of a block, within our limits.
fn reference(input: &[u8]) -> Option<Vec<u8>> {
    stated_size(input).ok()?;
    snap::raw::Decoder::new().decompress_vec(input).ok()
}

fn whole(input: &[u8]) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let mut decoder = PartialSnappy::new(input, &mut output).ok()?;
    decoder.decode_to(usize::MAX).ok()?;
    assert!(decoder.is_complete());
    Some(decoder.decoded().to_vec())
}

/// Bytes with many repetitions, near and far, as in a block.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        vec(any::<u8>(), 0..100),
        (any::<u8>(), 1usize..300).prop_map(|(byte, count)| vec![byte; count]),
        (vec(any::<u8>(), 1..20), 1usize..40).prop_map(|(bytes, count)| bytes.repeat(count)),
    ];
    (vec(piece, 0..20), vec((any::<prop::sample::Index>(), 1usize..200), 0..20)).prop_map(
        |(pieces, repeats)| {
            let mut bytes = pieces.concat();
            for (from, count) in repeats {
                if !bytes.is_empty() {
                    let from = from.index(bytes.len());
                    let end = (from + count).min(bytes.len());
                    bytes.extend_from_within(from..end);
                }
            }
            bytes
        },
    )
}

fn compressed(contents: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(contents).unwrap()
}

/// Streams of well-formed elements with any lengths and offsets, most of them possible.
fn elements() -> impl Strategy<Value = Vec<u8>> {
    let element = prop_oneof![
        vec(any::<u8>(), 1..70).prop_map(|bytes| {
            let mut element = match bytes.len() {
                length @ ..=60 => vec![(length as u8 - 1) << 2],
                length => vec![60 << 2, length as u8 - 1],
            };
            element.extend(bytes);
            element
        }),
        (any::<u8>(), 0u8..60).prop_map(|(tag, offset)| vec![tag & 0x1f & !3 | 1, offset]),
        (any::<u8>(), 0u8..100).prop_map(|(tag, offset)| vec![tag & !3 | 2, offset, 0]),
        (any::<u8>(), 0u8..100).prop_map(|(tag, offset)| vec![tag & !3 | 3, offset, 0, 0, 0]),
    ];
    (vec(element, 0..30), -2i32..3).prop_map(|(elements, error)| {
        let size: usize = elements.iter().map(|element| decoded_size(element)).sum();
        let mut stream = Vec::new();
        // Most of them state the right size.
        let error = if error.abs() == 2 { error.signum() } else { 0 };
        crate::coding::put_varint32(&mut stream, (size as i32 + error).max(0) as u32);
        stream.extend(elements.concat());
        stream
    })
}

fn decoded_size(element: &[u8]) -> usize {
    match element[0] & 3 {
        0 if element[0] >> 2 == 60 => element.len() - 2,
        0 => element.len() - 1,
        1 => usize::from(element[0] >> 2 & 7) + 4,
        _ => usize::from(element[0] >> 2) + 1,
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_before_memory_is_taken() {
    let mut output = Vec::new();
    for input in [&b""[..], b"\x80", b"\xff\xff\xff\xff\x0f\x00a", b"\x80\x80\x80\x20\x00a", b"\xff\x01\x00a"]
    {
        assert!(PartialSnappy::new(input, &mut output).is_err(), "{input:?}");
    }
    assert_eq!(output.capacity(), 0);
}

#[test]
fn bytes_of_a_former_block_in_the_buffer_are_never_shown_nor_copied() {
    let mut output = vec![b'x'; 500];
    let input = b"\x14\x0cabcd\x3a\x04\x00";
    let mut decoder = PartialSnappy::new(input, &mut output).unwrap();
    assert_eq!(decoder.decoded(), b"");
    decoder.decode_to(1).unwrap();
    assert_eq!(decoder.decoded(), b"abcd");
    // The copy states 15 bytes; 16 are left.
    assert!(decoder.decode_to(20).is_err());
    let mut decoder = PartialSnappy::new(b"\x08\x0cabcd\x0d\x06", &mut output).unwrap();
    assert!(decoder.decode_to(8).is_err(), "a copy from before the block");
}

proptest! {
    #[test]
    fn every_prefix_is_that_of_the_whole(
        contents in contents(),
        stops in vec(any::<prop::sample::Index>(), 0..6),
        former in 0usize..5000,
    ) {
        let input = compressed(&contents);
        let mut output = vec![0xee; former];
        let mut decoder = PartialSnappy::new(&input, &mut output).unwrap();
        prop_assert_eq!(decoder.size_bytes(), contents.len());
        let mut stops: Vec<usize> = stops.iter().map(|stop| stop.index(contents.len() + 10)).collect();
        stops.sort_unstable();
        for stop in stops {
            decoder.decode_to(stop).unwrap();
            prop_assert!(decoder.decoded().len() >= stop.min(contents.len()));
            prop_assert!(contents.starts_with(decoder.decoded()));
        }
        decoder.decode_to(usize::MAX).unwrap();
        prop_assert_eq!(decoder.decoded(), &contents[..]);
    }

    #[test]
    fn it_takes_what_the_reference_takes(input in elements()) {
        prop_assert_eq!(whole(&input), reference(&input));
    }

    #[test]
    fn damage_is_taken_or_refused_as_by_the_reference(
        contents in contents(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut input = compressed(&contents);
        for (position, byte) in changes {
            let position = position.index(input.len());
            input[position] = byte;
        }
        if let Some(cut) = cut {
            input.truncate(cut.index(input.len()));
        }
        prop_assert_eq!(whole(&input), reference(&input));
    }

    #[test]
    fn any_bytes_are_taken_or_refused_as_by_the_reference(input in vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(whole(&input), reference(&input));
    }
}
