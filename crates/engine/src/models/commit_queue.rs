//! Writers that come to the commit queue at the same time.

use std::sync::Arc;

use loom::thread;
use terrace_format::batch::{BatchOp, WriteBatch};

use super::explore;
use crate::error::{Error, ErrorKind, Result};
use crate::sync::PlainMemory;
use crate::write::commit_queue::CommitQueue;

/// The state that the token guards here.
#[derive(Default)]
struct Committed {
    /// The groups in the order in which they were committed, each with its writes in order.
    groups: Vec<Vec<u8>>,
    failure: Option<Error>,
}

/// The commit queue, and for each write the memory that its commit changes.
struct Model {
    queue: CommitQueue<Committed>,
    memory: Vec<PlainMemory>,
    /// The group that fails, if one does. Later groups find the database poisoned, as in `Health::check_writable`.
    fails: Option<usize>,
}

impl Model {
    fn new(writes: usize, fails: Option<usize>) -> Arc<Self> {
        let memory = (0..writes).map(|_| PlainMemory::new()).collect();
        Arc::new(Self { queue: CommitQueue::new(Committed::default()), memory, fails })
    }

    /// Makes write number `number`, and checks that its commit happened before it returned.
    fn write(&self, number: u8, sync: bool) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.put(&[number], b"").unwrap();
        let result =
            self.queue.write(batch, sync, |committed, batches, _sync| self.commit(committed, batches));
        if result.is_ok() {
            self.memory[usize::from(number)].read();
        }
        result
    }

    fn commit(&self, committed: &mut Committed, batches: &mut [WriteBatch]) -> Result<()> {
        if let Some(failure) = &committed.failure {
            return Err(Error::poisoned(failure));
        }
        let group: Vec<u8> = batches.iter().flat_map(numbers).collect();
        let fails = self.fails == Some(committed.groups.len());
        group.iter().for_each(|number| self.memory[usize::from(*number)].write());
        committed.groups.push(group);
        if fails {
            let failure = Error::new(ErrorKind::Io, "the log cannot be written");
            committed.failure = Some(failure.clone());
            return Err(failure);
        }
        Ok(())
    }
}

fn numbers(batch: &WriteBatch) -> Vec<u8> {
    let number = |operation| match operation {
        Ok(BatchOp::Put { key, .. }) => key[0],
        _ => panic!("only puts are written here"),
    };
    batch.iter().map(number).collect()
}

#[test]
fn every_write_is_committed_once_before_it_returns() {
    explore(|| {
        let model = Model::new(4, None);
        let writers: Vec<_> = (0..2)
            .map(|number| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.write(number, number == 0).unwrap())
            })
            .collect();
        model.write(2, false).unwrap();
        model.write(3, false).unwrap();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let mut all = model.queue.take_token().groups.concat();
        let place = |number| all.iter().position(|other| *other == number);
        assert!(place(2) < place(3), "a thread's writes keep their order");
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    });
}

#[test]
fn a_request_for_the_token_alone_is_served_among_writers() {
    explore(|| {
        let model = Model::new(2, None);
        let writers: Vec<_> = (0..2)
            .map(|number| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.write(number, false).unwrap())
            })
            .collect();
        // While the token is held, the state does not change.
        let token = model.queue.take_token();
        let groups = token.groups.len();
        assert!(model.queue.try_token().is_none());
        assert_eq!(token.groups.len(), groups);
        drop(token);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_eq!(model.queue.take_token().groups.concat().len(), 2);
    });
}

#[test]
fn a_failed_group_fails_whole_and_later_writes_find_the_database_poisoned() {
    explore(|| {
        let model = Model::new(3, Some(0));
        let writers: Vec<_> = (0..2)
            .map(|number| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.write(number, false).unwrap_err().kind())
            })
            .collect();
        let mut kinds = vec![model.write(2, false).unwrap_err().kind()];
        kinds.splice(0..0, writers.into_iter().map(|writer| writer.join().unwrap()));
        let token = model.queue.take_token();
        assert_eq!(token.groups.len(), 1);
        for (number, kind) in kinds.into_iter().enumerate() {
            let failed = token.groups[0].contains(&(number as u8));
            assert_eq!(kind, if failed { ErrorKind::Io } else { ErrorKind::Poisoned });
        }
    });
}

#[test]
fn writers_that_wait_together_are_all_woken() {
    explore(|| {
        let model = Model::new(3, None);
        let token = model.queue.take_token();
        let writers: Vec<_> = (0..3)
            .map(|number| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.write(number, false).unwrap())
            })
            .collect();
        drop(token);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_eq!(model.queue.take_token().groups.concat().len(), 3);
    });
}

#[test]
fn writers_that_sync_repeatedly_lose_no_write_while_they_gather() {
    explore(|| {
        let model = Model::new(4, None);
        let write_both = |model: &Model, first| {
            model.write(first, true).unwrap();
            model.write(first + 1, true).unwrap();
        };
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || write_both(&model, 0))
        };
        write_both(&model, 2);
        other.join().unwrap();
        let mut all = model.queue.take_token().groups.concat();
        let place = |number| all.iter().position(|other| *other == number);
        assert!(place(0) < place(1) && place(2) < place(3), "a thread's writes keep their order");
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    });
}
