//! Version edits, the records of a MANIFEST.

use terrace_format::internal_key::parse_internal_key;
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::VersionEdit;

/// The input is an edit.
pub fn run(bytes: &[u8]) {
    let Ok(edit) = VersionEdit::decode(bytes) else { return };
    let encoded = edit.encode();
    assert_eq!(VersionEdit::decode(&encoded).as_ref(), Ok(&edit));
    // Later fields replace earlier ones and lengths become shortest: never more bytes than before.
    assert!(encoded.len() <= bytes.len());

    let files = edit.new_files.iter();
    let keys = files.flat_map(|(level, file)| [(level, &file.smallest), (level, &file.largest)]);
    for (level, key) in keys.chain(edit.compact_pointers.iter().map(|(level, key)| (level, key))) {
        assert!(*level < LEVEL_COUNT);
        parse_internal_key(key).expect("the keys of an edit are internal keys");
    }
    assert!(edit.deleted_files.iter().all(|(level, _)| *level < LEVEL_COUNT));
}
