//! The reader of logs and manifests.

use terrace_format::crc;
use terrace_format::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{Fragment, FragmentHeader, LogEncoder, LogEvent, LogReader, TornRecord};

use crate::input::Input;

/// Records that the input is turned into; few, since one of them can have 64 KiB.
const MAX_RECORDS: usize = 6;

/// The input is where in a block it begins, two bytes, and the log from there on: once unmodified, once with the
/// checksums made right, and once as the lengths of records to write and to read back.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let start = usize::from(input.u16()) % LOG_BLOCK_SIZE_BYTES;
    let rest = input.rest();
    let mut file = whole_records(start);
    let start = file.len();
    file.extend_from_slice(rest);
    read(&file);
    mend_checksums(&mut file[start..], start);
    read(&file);
    write_and_read(start, rest);
}

/// A log of one record that ends at `end`, or an empty one where no record is so short.
fn whole_records(end: usize) -> Vec<u8> {
    let mut file = Vec::new();
    if let Some(payload) = end.checked_sub(LOG_HEADER_SIZE_BYTES) {
        LogEncoder::new().encode_into(&vec![b'x'; payload], &mut file);
        assert_eq!(file.len(), end);
    }
    file
}

fn read(file: &[u8]) {
    if let Some(fragment) = Fragment::parse(file) {
        assert!(fragment.size_bytes() <= file.len());
    }
    if let Some(torn) = TornRecord::new(None, file) {
        assert_eq!(torn.payload.len(), file.len().saturating_sub(LOG_HEADER_SIZE_BYTES));
    }
    let size = file.len() as u64;
    let mut reader = LogReader::new(file);
    let mut before = 0;
    // Each event but the last uses up a byte at least, or closes a record that did.
    for _ in 0..=2 * file.len() + 2 {
        let event = reader.next().expect("bytes in memory can be read");
        match event {
            LogEvent::Record { payload, offset } => {
                assert!(before <= offset && offset < size && payload.len() < file.len());
                before = offset;
            }
            LogEvent::Damage { offset, dropped_bytes, .. } => {
                assert!(dropped_bytes > 0 && offset + dropped_bytes <= size);
            }
            LogEvent::TornTail { offset, dropped_bytes } => {
                assert!(dropped_bytes > 0 && offset + dropped_bytes == size);
            }
            LogEvent::End => {
                assert_eq!(reader.next(), Ok(LogEvent::End));
                assert!(reader.end_of_last_record() <= size);
                return;
            }
        }
    }
    panic!("the reader does not come to an end");
}

/// Makes the checksums of the physical records right, so that a change of a length or a type is not the end of it.
/// `start` is where in the first block `log` begins.
fn mend_checksums(log: &mut [u8], start: usize) {
    let mut offset = 0;
    while offset + LOG_HEADER_SIZE_BYTES <= log.len() {
        let left = LOG_BLOCK_SIZE_BYTES - (start + offset) % LOG_BLOCK_SIZE_BYTES;
        let Some((header, _)) = FragmentHeader::split(&log[offset..]) else { return };
        let size = LOG_HEADER_SIZE_BYTES + header.length_bytes;
        if size > left {
            offset += left;
            continue;
        }
        let Some(record) = log.get_mut(offset..offset + size) else { return };
        let checksum = crc::mask(crc::crc32c(&record[LOG_HEADER_SIZE_BYTES - 1..]));
        record[..4].copy_from_slice(&checksum.to_le_bytes());
        offset += size;
    }
}

fn write_and_read(start: usize, lengths: &[u8]) {
    let mut file = whole_records(start);
    let mut encoder = LogEncoder::at_offset(file.len() as u64);
    let mut input = Input::new(lengths);
    let mut payloads = Vec::new();
    while !input.is_empty() && payloads.len() < MAX_RECORDS {
        let payload = vec![payloads.len() as u8; input.u16().into()];
        let size = file.len() + encoder.encoded_size_bytes(payload.len());
        encoder.encode_into(&payload, &mut file);
        assert_eq!(file.len(), size);
        payloads.push(payload);
    }
    let mut reader = LogReader::new(&file[..]);
    if start > 0 {
        assert!(matches!(reader.next(), Ok(LogEvent::Record { offset: 0, .. })));
    }
    for expected in &payloads {
        let Ok(LogEvent::Record { payload, .. }) = reader.next() else { panic!("a record is not read back") };
        assert!(payload == expected, "a record is read back changed");
    }
    assert_eq!(reader.next(), Ok(LogEvent::End));
    assert_eq!(reader.end_of_last_record(), file.len() as u64);
}
