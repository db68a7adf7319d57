//! Files that belong to the process until they take the place of all others.

use std::path::Path;

use terrace_env::Env;
use terrace_env::pooled::STAGE;
use terrace_env::simulated::SimulatedHandles;

use super::{opened, sorted_names, write};

fn staged(name: &str) -> String {
    format!("{STAGE}/{name}")
}

#[test]
fn what_is_staged_is_gone_after_the_process() {
    let mut handles = SimulatedHandles::new(11, 8);
    let env = opened(&handles);
    write(&env, "a", b"kept");
    env.create_directory_all(Path::new(&staged("export"))).unwrap();
    env.link_or_copy(Path::new("a"), Path::new(&staged("export/a"))).unwrap();
    write(&env, &staged("b"), b"lost");
    assert_eq!(env.free_slots(), 8 - 1 - 2);
    handles.kill_process();
    let env = opened(&handles);
    assert_eq!(sorted_names(&env), ["a"]);
    assert_eq!(env.read_file(Path::new("a")).unwrap(), b"kept");
    assert_eq!(env.free_slots(), 8 - 1 - 1);
}

#[test]
fn staged_files_take_the_place_of_all_others_or_of_none_wherever_the_machine_stops() {
    let (mut olds, mut news) = (0, 0);
    for (seed, halt) in (0..8).flat_map(|seed| (0..40).map(move |halt| (seed, halt))) {
        let mut handles = SimulatedHandles::new(seed, 8);
        let env = opened(&handles);
        write(&env, "a", b"old a");
        write(&env, "b", b"old b");
        handles.halt_after(halt);
        let replaced = env.create_directory_all(Path::new(STAGE)).is_ok()
            && [("b", "new b"), ("c", "new c")].iter().all(|(name, contents)| {
                let file = env.create(Path::new(&staged(name)));
                file.and_then(|mut file| file.append(contents.as_bytes()).and_then(|()| file.sync())).is_ok()
            })
            && env.make_root(Path::new(STAGE)).is_ok();
        drop(env);
        if halt % 2 == 0 {
            handles.kill_process();
        } else {
            handles.cut_power();
        }
        let env = opened(&handles);
        let found = sorted_names(&env);
        let contents: Vec<_> = found.iter().map(|name| env.read_file(Path::new(name)).unwrap()).collect();
        if found == ["a", "b"] {
            assert!(!replaced && contents == [b"old a", b"old b"], "seed {seed}, {halt} calls");
            olds += 1;
        } else {
            assert_eq!(found, ["b", "c"], "seed {seed}, {halt} calls");
            assert!(contents == [b"new b", b"new c"], "seed {seed}, {halt} calls");
            news += 1;
        }
        assert_eq!(env.free_slots(), 8 - 1 - 2);
    }
    assert!(olds > 50 && news > 50, "{olds} old, {news} new");
}
