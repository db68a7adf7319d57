//! Write batches: `WriteBatch::from_bytes` and `BatchRef::parse`.

use terrace_format::batch::{BatchOp, BatchRef, WriteBatch};

/// The input is a batch, as a log holds it.
pub fn run(bytes: &[u8]) {
    let parsed = BatchRef::parse(bytes);
    let Ok(batch) = WriteBatch::from_bytes(bytes.to_vec()) else {
        assert!(parsed.is_err(), "one decoder accepts what the other refuses");
        return;
    };
    let parsed = parsed.expect("one decoder refuses what the other accepts");
    assert_eq!((parsed.sequence(), parsed.count()), (batch.sequence(), batch.count()));

    // Written again it has the shortest lengths, so perhaps other bytes, but the same operations.
    let mut again = WriteBatch::new();
    for operation in &batch {
        match operation.expect("a checked batch yields no error") {
            BatchOp::Put { key, value } => again.put(key, value),
            BatchOp::Delete { key } => again.delete(key),
        }
        .expect("an input is within the limits");
    }
    again.set_sequence(batch.sequence());
    let again = WriteBatch::from_bytes(again.as_bytes().to_vec()).expect("what we write can be read");
    assert!(again.iter().eq(batch.iter()), "an operation changed");
    assert_eq!((again.sequence(), again.count()), (batch.sequence(), batch.count()));

    let mut twice = batch.clone();
    twice.append(&again).expect("two inputs are within the limits");
    assert_eq!(twice.count(), 2 * batch.count());
    assert!(twice.iter().eq(batch.iter().chain(&batch)), "appending changed an operation");
}
