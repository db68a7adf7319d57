//! Checks of buffered writes.

use super::{TestDirectory, pattern};

pub(super) fn pieces_of_any_size(scratch: &TestDirectory) {
    // Sizes around those at which a buffer of a power of two is almost full, full, and overfull.
    let sizes = [0, 1, 2, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1, 65_535, 1, 65_536, 131_073, 7, 0];
    let contents = pattern(sizes.iter().sum());
    let mut file = scratch.env.create(&scratch.path("file")).unwrap();
    let mut end = 0;
    for size in sizes {
        file.append(&contents[end..end + size]).unwrap();
        end += size;
        assert_eq!(file.size_bytes(), end as u64);
    }
    file.flush().unwrap();
    file.flush().unwrap();
    assert!(scratch.read("file") == contents);
    file.close().unwrap();
    assert!(scratch.read("file") == contents);
}

pub(super) fn create_empties(scratch: &TestDirectory) {
    scratch.write("file", b"long contents");
    let file = scratch.env.create(&scratch.path("file")).unwrap();
    assert_eq!(file.size_bytes(), 0);
    assert_eq!(scratch.env.file_size(&scratch.path("file")).unwrap(), 0);
    file.close().unwrap();
    assert_eq!(scratch.read("file"), b"");
    scratch.write("file", b"short");
    assert_eq!(scratch.read("file"), b"short");
}

pub(super) fn append_goes_on(scratch: &TestDirectory) {
    let path = scratch.path("file");
    let mut file = scratch.env.open_append(&path).unwrap();
    assert_eq!(file.size_bytes(), 0);
    assert!(scratch.env.exists(&path).unwrap());
    file.append(b"one").unwrap();
    assert_eq!(file.size_bytes(), 3);
    file.close().unwrap();

    let mut file = scratch.env.open_append(&path).unwrap();
    assert_eq!(file.size_bytes(), 3);
    file.append(b" two").unwrap();
    file.sync().unwrap();
    file.append(b" three").unwrap();
    assert_eq!(file.size_bytes(), 13);
    file.close().unwrap();
    assert_eq!(scratch.read("file"), b"one two three");
}

pub(super) fn syncs(scratch: &TestDirectory) {
    let mut file = scratch.env.create(&scratch.path("file")).unwrap();
    file.sync().unwrap();
    file.append(b"a").unwrap();
    file.sync().unwrap();
    assert_eq!(scratch.read("file"), b"a");
    file.append(b"b").unwrap();
    file.sync().unwrap();
    file.sync().unwrap();
    assert_eq!(file.size_bytes(), 2);
    file.close().unwrap();
    assert_eq!(scratch.read("file"), b"ab");
}

pub(super) fn dropped_files_are_written(scratch: &TestDirectory) {
    let mut file = scratch.env.create(&scratch.path("file")).unwrap();
    file.append(b"kept").unwrap();
    drop(file);
    assert_eq!(scratch.read("file"), b"kept");
}

pub(super) fn where_no_file_can_be(scratch: &TestDirectory) {
    let path = scratch.path("missing/file");
    for error in [scratch.env.create(&path).err().unwrap(), scratch.env.open_append(&path).err().unwrap()] {
        assert!(error.is_not_found(), "{error}");
        assert_eq!(error.path, path);
    }
    let path = scratch.path("directory");
    scratch.env.create_directory_all(&path).unwrap();
    assert!(scratch.env.create(&path).is_err());
    assert!(scratch.env.open_append(&path).is_err());
    assert_eq!(scratch.names(), ["directory"]);
}
