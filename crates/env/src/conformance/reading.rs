//! Checks of random and sequential reads.

use std::io::ErrorKind;
use std::sync::{Arc, mpsc};

use super::{TestDirectory, pattern};
use crate::Background;

pub(super) fn at_offsets(scratch: &TestDirectory) {
    let contents = pattern(1000);
    scratch.write("file", &contents);
    let file = scratch.env.open_random(&scratch.path("file")).unwrap();
    assert_eq!(file.size_bytes().unwrap(), 1000);
    assert_eq!(file.path(), scratch.path("file"));

    for (offset, wanted_bytes) in [(0, 1000), (0, 1), (999, 1), (300, 400), (1000, 0), (17, 0)] {
        let mut buffer = vec![0xee; wanted_bytes];
        assert_eq!(file.read_at(offset as u64, &mut buffer).unwrap(), wanted_bytes);
        assert_eq!(buffer, contents[offset..offset + wanted_bytes]);
        let mut buffer = vec![0xee; wanted_bytes];
        file.read_exact_at(offset as u64, &mut buffer).unwrap();
        assert_eq!(buffer, contents[offset..offset + wanted_bytes]);
    }

    // Across the end: short. After it: nothing.
    let mut buffer = [0xee; 100];
    assert_eq!(file.read_at(950, &mut buffer).unwrap(), 50);
    assert_eq!(buffer[..50], contents[950..]);
    for offset in [1000, 1001, 1 << 40, i64::MAX as u64 - 50, i64::MAX as u64, u64::MAX] {
        assert_eq!(file.read_at(offset, &mut buffer).unwrap(), 0, "at {offset}");
    }
    for offset in [950, 1000, u64::MAX] {
        let error = file.read_exact_at(offset, &mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "at {offset}");
        assert_eq!(error.path, scratch.path("file"));
    }
}

pub(super) fn without_waiting(scratch: &TestDirectory) {
    let contents = pattern(300_000);
    scratch.write("file", &contents);
    let file = scratch.env.open_random(&scratch.path("file")).unwrap();
    for offset in [0, 1, 4095, 4096, 150_000, 299_000, 299_999, 300_000, 400_000] {
        for wanted_bytes in [0, 1, 1000, 100_000] {
            let expected = &contents[offset.min(300_000)..(offset + wanted_bytes).min(300_000)];
            let mut buffer = vec![0xee; wanted_bytes];
            // It may always say that it would wait, but what it reads must be complete.
            if let Some(read_bytes) = file.read_at_without_waiting(offset as u64, &mut buffer).unwrap() {
                assert_eq!(buffer[..read_bytes], *expected, "{wanted_bytes} bytes at {offset}");
            }
        }
    }
    let read_bytes = file.read_at_without_waiting(u64::MAX, &mut [0; 10]).unwrap();
    assert!(matches!(read_bytes, None | Some(0)));
}

pub(super) fn mapped(scratch: &TestDirectory) {
    let contents = pattern(300_000);
    // Some environments map only some files.
    for name in ["file1", "file2"] {
        scratch.write(name, &contents);
        let file = scratch.env.open_mapped(&scratch.path(name)).unwrap();
        let Some(mapped) = file.mapped() else {
            continue;
        };
        assert_eq!(mapped, contents);
        assert_eq!(file.mapped().unwrap(), contents);
        assert_eq!(file.size_bytes().unwrap(), 300_000);
        let mut buffer = [0; 100];
        for (offset, count) in [(0, 100), (299_950, 50), (300_000, 0), (u64::MAX, 0)] {
            assert_eq!(file.read_at(offset, &mut buffer).unwrap(), count, "at {offset}");
            assert_eq!(buffer[..count], contents[offset as usize % 300_001..][..count], "at {offset}");
            let at_once = file.read_at_without_waiting(offset, &mut buffer).unwrap();
            assert!(at_once.is_none_or(|found| found == count), "at {offset}");
        }
        // The answer depends on the machine; asking must do no harm.
        for (offset, size_bytes) in [(0, 0), (0, 300_000), (4095, 2), (299_999, 1), (100_000, 150_000)] {
            let _ = file.mapped_is_in_memory(offset, size_bytes);
        }
        let piece = mapped.slice(1000..2000);
        drop((file, mapped));
        scratch.env.remove_file(&scratch.path(name)).unwrap();
        assert_eq!(piece, contents[1000..2000], "the bytes outlive handle and name");
    }
    scratch.write("empty1", b"");
    let file = scratch.env.open_mapped(&scratch.path("empty1")).unwrap();
    assert!(file.mapped().is_none_or(|mapped| mapped.is_empty()));
}

pub(super) fn in_sequence(scratch: &TestDirectory) {
    let contents = pattern(100_000);
    scratch.write("file", &contents);
    for buffer_size in [7, 4096, 200_000] {
        let mut file = scratch.env.open_sequential(&scratch.path("file")).unwrap();
        let mut buffer = vec![0; buffer_size];
        let mut found = Vec::new();
        loop {
            assert_eq!(file.read(&mut []).unwrap(), 0, "no room, no bytes");
            match file.read(&mut buffer).unwrap() {
                0 => break,
                read_bytes => found.extend_from_slice(&buffer[..read_bytes]),
            }
        }
        assert!(found == contents, "in pieces of {buffer_size}");
        assert_eq!(file.read(&mut buffer).unwrap(), 0, "the end stays the end");
    }
}

pub(super) fn whole_files(scratch: &TestDirectory) {
    for size in [0, 1, 100, 16 << 10, 100_000] {
        let contents = pattern(size);
        scratch.write("file", &contents);
        assert!(scratch.read("file") == contents, "{size} bytes");
        assert_eq!(scratch.env.file_size(&scratch.path("file")).unwrap(), size as u64);
    }
}

pub(super) fn what_a_writer_flushed(scratch: &TestDirectory) {
    let mut writer = scratch.env.create(&scratch.path("file")).unwrap();
    writer.append(b"first").unwrap();
    writer.flush().unwrap();
    assert_eq!(scratch.read("file"), b"first");
    let reader = scratch.env.open_random(&scratch.path("file")).unwrap();
    assert_eq!(reader.size_bytes().unwrap(), 5);

    writer.append(b", second").unwrap();
    writer.sync().unwrap();
    assert_eq!(reader.size_bytes().unwrap(), 13);
    assert_eq!(scratch.env.file_size(&scratch.path("file")).unwrap(), 13);
    let mut buffer = [0; 20];
    assert_eq!(reader.read_at(0, &mut buffer).unwrap(), 13);
    assert_eq!(&buffer[..13], b"first, second");
}

pub(super) fn from_many_threads(scratch: &TestDirectory) {
    const THREADS: usize = 4;
    if scratch.env.background() == Background::Steps {
        return;
    }
    let contents = Arc::new(pattern(200_000));
    scratch.write("file", &contents);
    let file = scratch.env.open_random(&scratch.path("file")).unwrap();
    let (report, reports) = mpsc::channel();
    let mut threads = Vec::new();
    for thread in 0..THREADS {
        let (file, contents, report) = (Arc::clone(&file), Arc::clone(&contents), report.clone());
        let work = move || {
            let mut buffer = [0; 500];
            let all_right = (0..2000_usize).all(|step| {
                let offset = (step * 7919 + thread * 50_021) % (contents.len() - buffer.len());
                file.read_exact_at(offset as u64, &mut buffer).is_ok()
                    && buffer[..] == contents[offset..offset + buffer.len()]
            });
            report.send(all_right).unwrap();
        };
        threads.push(scratch.env.spawn("reader", Box::new(work)).unwrap());
    }
    for thread in threads {
        thread.join();
    }
    drop(report);
    assert_eq!(reports.iter().collect::<Vec<_>>(), [true; THREADS]);
}

pub(super) fn a_large_file(scratch: &TestDirectory) {
    const SIZE_BYTES: usize = 20 << 20;
    let contents = pattern(SIZE_BYTES);
    let mut writer = scratch.env.create(&scratch.path("file")).unwrap();
    for (index, piece) in contents.chunks(1_000_003).enumerate() {
        // Pieces smaller and larger than any buffer, alternating.
        if index % 2 == 0 {
            writer.append(piece).unwrap();
        } else {
            piece.chunks(333).for_each(|part| writer.append(part).unwrap());
        }
    }
    assert_eq!(writer.size_bytes(), SIZE_BYTES as u64);
    writer.close().unwrap();
    assert_eq!(scratch.env.file_size(&scratch.path("file")).unwrap(), SIZE_BYTES as u64);
    assert!(scratch.read("file") == contents);
}

pub(super) fn what_is_no_file(scratch: &TestDirectory) {
    let env = &scratch.env;
    for name in ["missing", "missing/inside"] {
        let path = scratch.path(name);
        for error in [
            env.open_random(&path).err().unwrap(),
            env.open_sequential(&path).err().unwrap(),
            env.read_file(&path).unwrap_err(),
            env.file_size(&path).unwrap_err(),
        ] {
            assert!(error.is_not_found(), "{error}");
            assert_eq!(error.path, path);
            assert!(!error.is_no_space() && !error.is_read_only() && !error.is_already_exists());
        }
    }
    env.create_directory_all(&scratch.path("directory")).unwrap();
    let path = scratch.path("directory");
    assert!(env.open_random(&path).is_err());
    assert!(env.open_sequential(&path).is_err());
    assert!(env.read_file(&path).is_err());
    assert!(env.file_size(&path).is_err());
}
