//! What is read ahead of a walk.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use terrace_env::pooled::Handles;
use terrace_env::simulated::SimulatedHandles;
use terrace_env::{Env, PooledEnv, RandomAccessFile};

use super::{opened, write};

/// Handles that count what is read.
#[derive(Debug, Clone)]
struct Counted {
    handles: SimulatedHandles,
    /// The sizes of the reads so far.
    reads: Arc<Mutex<Vec<usize>>>,
}

impl Counted {
    fn new(seed: u64, count: usize) -> Self {
        Self { handles: SimulatedHandles::new(seed, count), reads: Arc::default() }
    }

    fn take(&self) -> Vec<usize> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl Handles for Counted {
    fn count(&self) -> usize {
        self.handles.count()
    }

    fn read_at(&self, handle: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads.lock().unwrap().push(buffer.len());
        self.handles.read_at(handle, offset, buffer)
    }

    fn write_at(&self, handle: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.handles.write_at(handle, offset, bytes)
    }

    fn truncate(&self, handle: usize, size_bytes: u64) -> io::Result<()> {
        self.handles.truncate(handle, size_bytes)
    }

    fn flush(&self, handle: usize) -> io::Result<()> {
        self.handles.flush(handle)
    }

    fn size_bytes(&self, handle: usize) -> io::Result<u64> {
        self.handles.size_bytes(handle)
    }
}

/// Bytes of which no two places hold the same for long.
fn pattern(size_bytes: usize) -> Vec<u8> {
    (0..size_bytes as u32)
        .flat_map(|index| index.wrapping_mul(2_654_435_761).to_be_bytes())
        .take(size_bytes)
        .collect()
}

#[test]
fn a_walk_through_files_needs_few_reads_and_reads_at_random_get_no_more_than_they_ask_for() {
    let handles = Counted::new(12, 24);
    let env = PooledEnv::open(Arc::new(handles.clone())).unwrap();
    let contents = pattern(1 << 20);
    let names: Vec<String> = (0..20).map(|number| format!("{number}.ldb")).collect();
    names.iter().for_each(|name| write(&env, name, &contents));
    let files: Vec<_> = names.iter().map(|name| env.open_random(Path::new(name)).unwrap()).collect();
    handles.take();
    let mut block = vec![0; 4096];
    // Eight walks that take turns, with a read elsewhere between their steps.
    for offset in (0..contents.len()).step_by(4096) {
        for file in &files[..8] {
            file.read_exact_at(offset as u64, &mut block).unwrap();
            assert!(block == contents[offset..offset + 4096], "at {offset}");
        }
        files[15].read_exact_at((offset as u64 * 7 + 100) % 900_000, &mut block).unwrap();
    }
    let reads = handles.take();
    let (random, walks): (Vec<usize>, Vec<usize>) = reads.iter().partition(|&&size_bytes| size_bytes == 4096);
    assert_eq!(random.len(), 256);
    assert!(walks.len() <= 8 * 17, "{} reads", walks.len());
    assert!(walks.iter().sum::<usize>() <= 8 * contents.len());
    // More walks at once than there are windows are right as well.
    for offset in (0..contents.len()).step_by(50_000) {
        for file in &files {
            let read_bytes = file.read_at(offset as u64, &mut block).unwrap();
            assert!(block[..read_bytes] == contents[offset..offset + read_bytes]);
        }
    }
}

#[test]
fn what_was_read_ahead_is_forgotten_once_the_file_is_another() {
    let env = opened(&SimulatedHandles::new(13, 3));
    let path = Path::new("a");
    let mut buffer = [0; 100];
    write(&env, "a", &[1; 50_000]);
    let reader = env.open_random(path).unwrap();
    let mut read = |reader: &dyn RandomAccessFile, offset| {
        let read_bytes = reader.read_at(offset, &mut buffer).unwrap();
        buffer[..read_bytes].to_vec()
    };
    assert_eq!(read(&*reader, 0), [1; 100]);
    let mut rewriter = env.create(path).unwrap();
    rewriter.append(&[2; 50_000]).unwrap();
    rewriter.flush().unwrap();
    assert_eq!(read(&*reader, 100), [2; 100]);
    let mut log = env.create_log(path).unwrap();
    assert_eq!(read(&*reader, 200), []);
    log.append(&[3; 250]).unwrap();
    assert_eq!(read(&*reader, 0), [3; 100]);
    log.truncate(150).unwrap();
    log.append(&[4; 100]).unwrap();
    assert_eq!(read(&*reader, 100), [[3; 50], [4; 50]].concat());
    // The slot goes to another file.
    drop((reader, log, rewriter));
    env.remove_file(path).unwrap();
    (0..2).for_each(|number| write(&env, &format!("b{number}"), &[5; 1000]));
    for number in 0..2 {
        let reader = env.open_random(Path::new(&format!("b{number}"))).unwrap();
        assert_eq!(read(&*reader, 0), [5; 100]);
    }
}
