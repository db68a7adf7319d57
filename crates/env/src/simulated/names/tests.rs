use super::*;
use crate::names::normal;

const STRICT: Mode = Mode::StrictPosix;
const EXT4: Mode = Mode::Ext4Ordered;

/// The names in `/` that may result: `prepare` makes durable ones, and `change` changes them without a sync.
fn outcomes(mode: Mode, prepare: fn(&mut Names), change: fn(&mut Names, Mode)) -> BTreeSet<Vec<String>> {
    let mut outcomes = BTreeSet::new();
    for seed in 0..300 {
        let mut names = Names::new();
        prepare(&mut names);
        for directory in [Path::new(""), Path::new("a"), Path::new("b")] {
            if names.exists(directory) {
                names.sync_directory(mode, directory).unwrap();
            }
        }
        change(&mut names, mode);
        names.cut_power(mode, &mut Random::new(seed), |_, file, _| Arc::clone(file));
        outcomes.insert(names.current.keys().skip(1).map(|path| path.display().to_string()).collect());
    }
    outcomes
}

fn set<const N: usize>(outcomes: [&[&str]; N]) -> BTreeSet<Vec<String>> {
    outcomes.map(|names| names.iter().map(ToString::to_string).collect()).into()
}

fn create(names: &mut Names, path: &str) {
    names.create(Path::new(path)).unwrap();
}

fn create_two(names: &mut Names, _: Mode) {
    create(names, "x");
    create(names, "y");
}

#[test]
fn strict_names_become_durable_in_any_order() {
    let all: [&[&str]; 4] = [&[], &["x"], &["y"], &["x", "y"]];
    assert_eq!(outcomes(STRICT, |_| (), create_two), set(all));
}

#[test]
fn journaled_names_become_durable_in_order() {
    assert_eq!(outcomes(EXT4, |_| (), create_two), set([&[], &["x"], &["x", "y"]]));
}

#[test]
fn a_rename_is_atomic() {
    for mode in [STRICT, EXT4] {
        let rename = |names: &mut Names, _| names.rename_to_new(Path::new("old"), Path::new("new")).unwrap();
        assert_eq!(outcomes(mode, |names| create(names, "old"), rename), set([&["new"], &["old"]]));
    }
}

#[test]
fn a_replaced_name_leads_to_the_old_file_or_the_new() {
    for mode in [STRICT, EXT4] {
        let (mut old, mut new) = (0, 0);
        for seed in 0..100 {
            let mut names = Names::new();
            create(&mut names, "temporary");
            create(&mut names, "x");
            names.sync_directory(mode, Path::new("")).unwrap();
            let files = names.files();
            names.rename_over(Path::new("temporary"), Path::new("x")).unwrap();
            names.cut_power(mode, &mut Random::new(seed), |_, file, _| Arc::clone(file));
            let after = names.file(Path::new("x")).unwrap();
            if Arc::ptr_eq(&after, &files[1].1) {
                old += 1;
                assert!(names.exists(Path::new("temporary")));
            } else {
                assert!(Arc::ptr_eq(&after, &files[0].1));
                new += 1;
                assert!(!names.exists(Path::new("temporary")));
            }
        }
        assert!(old > 10 && new > 10, "{old} {new}");
    }
}

#[test]
fn a_removal_may_be_undone_until_the_directory_is_synced() {
    for mode in [STRICT, EXT4] {
        let remove = |names: &mut Names, _| names.remove_file(Path::new("x")).unwrap();
        assert_eq!(outcomes(mode, |names| create(names, "x"), remove), set([&[], &["x"]]));
        let remove_and_sync = |names: &mut Names, mode| {
            names.remove_file(Path::new("x")).unwrap();
            names.sync_directory(mode, Path::new("")).unwrap();
        };
        assert_eq!(outcomes(mode, |names| create(names, "x"), remove_and_sync), set([&[]]));
    }
}

#[test]
fn syncing_a_directory_is_for_its_own_names() {
    let prepare = |names: &mut Names| {
        names.create_directory(Path::new("a")).unwrap();
        names.create_directory(Path::new("b")).unwrap();
    };
    let change = |names: &mut Names, mode| {
        create(names, "a/x");
        create(names, "b/y");
        names.sync_directory(mode, Path::new("b")).unwrap();
        create(names, "b/z");
    };
    let strict: [&[&str]; 4] = [
        &["a", "a/x", "b", "b/y"],
        &["a", "a/x", "b", "b/y", "b/z"],
        &["a", "b", "b/y"],
        &["a", "b", "b/y", "b/z"],
    ];
    assert_eq!(outcomes(STRICT, prepare, change), set(strict));
    // The journal has everything that came before.
    let ext4: [&[&str]; 2] = [&["a", "a/x", "b", "b/y"], &["a", "a/x", "b", "b/y", "b/z"]];
    assert_eq!(outcomes(EXT4, prepare, change), set(ext4));
}

#[test]
fn a_rename_between_directories_is_durable_by_the_sync_of_either() {
    let prepare = |names: &mut Names| {
        names.create_directory(Path::new("a")).unwrap();
        names.create_directory(Path::new("b")).unwrap();
        create(names, "a/x");
    };
    let new_synced = |names: &mut Names, mode| {
        names.rename_to_new(Path::new("a/x"), Path::new("b/x")).unwrap();
        names.sync_directory(mode, Path::new("b")).unwrap();
    };
    let strict: [&[&str]; 2] = [&["a", "a/x", "b", "b/x"], &["a", "b", "b/x"]];
    assert_eq!(outcomes(STRICT, prepare, new_synced), set(strict));
    assert_eq!(outcomes(EXT4, prepare, new_synced), set([&["a", "b", "b/x"]]));
    let old_synced = |names: &mut Names, mode| {
        names.rename_to_new(Path::new("a/x"), Path::new("b/x")).unwrap();
        names.sync_directory(mode, Path::new("a")).unwrap();
    };
    for mode in [STRICT, EXT4] {
        assert_eq!(outcomes(mode, prepare, old_synced), set([&["a", "b", "b/x"]]));
    }
}

#[test]
fn a_directory_that_is_lost_takes_with_it_what_is_inside() {
    let change = |names: &mut Names, mode| {
        names.create_directory(Path::new("a")).unwrap();
        create(names, "a/x");
        names.sync_directory(mode, Path::new("a")).unwrap();
    };
    assert_eq!(outcomes(STRICT, |_| (), change), set([&[], &["a", "a/x"]]));
    assert_eq!(outcomes(EXT4, |_| (), change), set([&["a", "a/x"]]));
}

#[test]
fn syncing_a_file_makes_its_name_durable_only_in_the_journal() {
    let change = |names: &mut Names, mode| {
        create(names, "x");
        create(names, "y");
        let file = names.file(Path::new("x")).unwrap();
        names.sync_file(mode, &file);
    };
    let strict: [&[&str]; 4] = [&[], &["x"], &["y"], &["x", "y"]];
    assert_eq!(outcomes(STRICT, |_| (), change), set(strict));
    assert_eq!(outcomes(EXT4, |_| (), change), set([&["x"], &["x", "y"]]));
}

#[test]
fn paths_are_normal() {
    for (given, expected) in [("/a/b", "a/b"), ("a/./b/", "a/b"), ("/a/../../b", "b"), ("/", ""), (".", "")] {
        assert_eq!(normal(Path::new(given)), Path::new(expected), "{given}");
    }
}
