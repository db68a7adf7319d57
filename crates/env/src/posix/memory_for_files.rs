//! How much memory Linux has for the contents of files: of the machine, and within the limits of the control groups
//! (v1 or v2) that the process belongs to.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The smallest of what the machine and each control group have; `None` if none of them says.
pub(super) fn bytes() -> Option<u64> {
    let of_machine = contents("/proc/meminfo".as_ref()).and_then(|text| of_meminfo(&text));
    let memberships = contents("/proc/self/cgroup".as_ref()).unwrap_or_default();
    let of_groups = Group::of(&memberships).and_then(|group| group.least_bytes());
    of_machine.into_iter().chain(of_groups).min()
}

/// What is in a file of `/proc` or `/sys`. These say that they are empty, so the usual way of reading starts with 32 bytes.
fn contents(path: &Path) -> Option<String> {
    const USUAL_SIZE_BYTES: usize = 4 << 10;
    let mut text = String::with_capacity(USUAL_SIZE_BYTES);
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// What the machine can give without swapping.
fn of_meminfo(text: &str) -> Option<u64> {
    field(text, "MemAvailable:").map(|kib| kib.saturating_mul(1 << 10))
}

/// The number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Where the control group of the process is, and the names of its files.
#[derive(Debug, PartialEq)]
struct Group {
    root: &'static str,
    path: PathBuf,
    limit: &'static str,
    usage: &'static str,
    /// The fields of `memory.stat` that count the memory of files.
    of_files: [&'static str; 2],
}

impl Group {
    /// The group that `/proc/self/cgroup` names. A machine may have both versions; version 1 then has the memory if it
    /// lists it.
    fn of(memberships: &str) -> Option<Self> {
        let with_controllers = |wanted: fn(&str) -> bool| {
            memberships.lines().find_map(|line| {
                let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                wanted(controllers).then(|| PathBuf::from(path.trim_start_matches('/')))
            })
        };
        let first = with_controllers(|controllers| controllers.split(',').any(|name| name == "memory"));
        if let Some(path) = first {
            return Some(Self {
                root: "/sys/fs/cgroup/memory",
                path,
                limit: "memory.limit_in_bytes",
                usage: "memory.usage_in_bytes",
                of_files: ["total_active_file ", "total_inactive_file "],
            });
        }
        Some(Self {
            root: "/sys/fs/cgroup",
            path: with_controllers(str::is_empty)?,
            limit: "memory.max",
            usage: "memory.current",
            of_files: ["active_file ", "inactive_file "],
        })
    }

    /// The least that it or a group above it has. In a container the group may be visible only as the root.
    fn least_bytes(&self) -> Option<u64> {
        self.path.ancestors().filter_map(|path| self.bytes_in(&Path::new(self.root).join(path))).min()
    }

    /// What the group in `directory` has left of its limit, and what files take of it.
    fn bytes_in(&self, directory: &Path) -> Option<u64> {
        let read = |name: &str| contents(&directory.join(name));
        // Without a limit, version 2 says "max" and version 1 a number beyond any machine.
        let limit: u64 = read(self.limit)?.trim().parse().ok().filter(|&limit| limit < 1 << 60)?;
        let usage: u64 = read(self.usage)?.trim().parse().ok()?;
        let stat = read("memory.stat")?;
        let of_files: u64 = self.of_files.iter().filter_map(|name| field(&stat, name)).sum();
        Some(limit.saturating_sub(usage).saturating_add(of_files.min(usage)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_machine_says_what_is_available() {
        let text = "MemTotal:       24683624 kB\nMemFree:         100 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(of_meminfo(text), Some(2 << 20));
        assert_eq!(of_meminfo("MemTotal: 1 kB\n"), None);
        assert_eq!(of_meminfo("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn a_group_is_found_in_either_version() {
        let both = "9:cpu,cpuacct:/a\n8:memory:/b/c\n0::/d\n";
        let group = Group::of(both).unwrap();
        assert_eq!((group.root, group.path.to_str()), ("/sys/fs/cgroup/memory", Some("b/c")));
        let second = Group::of("0::/user.slice/x\n").unwrap();
        assert_eq!((second.limit, second.path.to_str()), ("memory.max", Some("user.slice/x")));
        assert_eq!(Group::of(""), None);
        assert_eq!(Group::of("nonsense"), None);
    }

    #[test]
    fn of_a_group_counts_what_is_left_and_what_files_take() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let group = Group::of("0::/\n").unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "900\n");
        write("memory.stat", "anon 200\nactive_file 300\ninactive_file 250\n");
        assert_eq!(group.bytes_in(directory.path()), Some(100 + 550));
        write("memory.max", "max\n");
        assert_eq!(group.bytes_in(directory.path()), None);
        assert_eq!(group.bytes_in(Path::new("/nowhere")), None);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
