//! Checks of buffered writes.

use super::{TestDirectory, pattern};

pub(super) fn pieces_of_any_size(place: &TestDirectory) {
    // Sizes around those at which a buffer of a power of two is almost full, full, and overfull.
    let sizes = [0, 1, 2, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1, 65_535, 1, 65_536, 131_073, 7, 0];
    let contents = pattern(sizes.iter().sum());
    let mut file = place.env.create(&place.path("file")).unwrap();
    let mut end = 0;
    for size in sizes {
        file.append(&contents[end..end + size]).unwrap();
        end += size;
        assert_eq!(file.size_bytes(), end as u64);
    }
    file.flush().unwrap();
    file.flush().unwrap();
    assert!(place.read("file") == contents);
    file.close().unwrap();
    assert!(place.read("file") == contents);
}

pub(super) fn create_empties(place: &TestDirectory) {
    place.write("file", b"long contents");
    let file = place.env.create(&place.path("file")).unwrap();
    assert_eq!(file.size_bytes(), 0);
    assert_eq!(place.env.file_size(&place.path("file")).unwrap(), 0);
    file.close().unwrap();
    assert_eq!(place.read("file"), b"");
    place.write("file", b"short");
    assert_eq!(place.read("file"), b"short");
}

pub(super) fn append_goes_on(place: &TestDirectory) {
    let path = place.path("file");
    let mut file = place.env.open_append(&path).unwrap();
    assert_eq!(file.size_bytes(), 0);
    assert!(place.env.exists(&path).unwrap());
    file.append(b"one").unwrap();
    assert_eq!(file.size_bytes(), 3);
    file.close().unwrap();

    let mut file = place.env.open_append(&path).unwrap();
    assert_eq!(file.size_bytes(), 3);
    file.append(b" two").unwrap();
    file.sync().unwrap();
    file.append(b" three").unwrap();
    assert_eq!(file.size_bytes(), 13);
    file.close().unwrap();
    assert_eq!(place.read("file"), b"one two three");
}

pub(super) fn syncs(place: &TestDirectory) {
    let mut file = place.env.create(&place.path("file")).unwrap();
    file.sync().unwrap();
    file.append(b"a").unwrap();
    file.sync().unwrap();
    assert_eq!(place.read("file"), b"a");
    file.append(b"b").unwrap();
    file.sync().unwrap();
    file.sync().unwrap();
    assert_eq!(file.size_bytes(), 2);
    file.close().unwrap();
    assert_eq!(place.read("file"), b"ab");
}

pub(super) fn dropped_files_are_written(place: &TestDirectory) {
    let mut file = place.env.create(&place.path("file")).unwrap();
    file.append(b"kept").unwrap();
    drop(file);
    assert_eq!(place.read("file"), b"kept");
}

pub(super) fn where_no_file_can_be(place: &TestDirectory) {
    let path = place.path("missing/file");
    for error in [place.env.create(&path).err().unwrap(), place.env.open_append(&path).err().unwrap()] {
        assert!(error.is_not_found(), "{error}");
        assert_eq!(error.path, path);
    }
    let path = place.path("directory");
    place.env.create_directory_all(&path).unwrap();
    assert!(place.env.create(&path).is_err());
    assert!(place.env.open_append(&path).is_err());
    assert_eq!(place.names(), ["directory"]);
}
