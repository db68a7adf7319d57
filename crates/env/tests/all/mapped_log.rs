//! A mapped log whose file has no page for the next record returns an error, and the process survives.
//!
//! What would end the process runs in another one: this test program again, running only [`helper_process`].
#![cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::ffi::c_void;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{make_room, only};
use terrace_env::{Env, EnvError, LogFile, PosixEnv};

const ROLE: &str = "TERRACE_MAPPED_LOG_ROLE";
const DIRECTORY: &str = "TERRACE_MAPPED_LOG_DIRECTORY";
const DONE: &str = "done as told";
/// How the other process reports what it could not try.
const NOT_HERE: &str = "skipped";
/// The exit code of a foreign handler.
const FOREIGN_EXIT: i32 = 42;

/// Starts this program again, with the emulator that cargo is configured to use, if any.
fn this_program() -> Command {
    let program = std::env::current_exe().unwrap();
    let name = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_RUNNER", std::env::consts::ARCH.to_uppercase());
    let Ok(runner) = std::env::var(name) else { return Command::new(program) };
    let mut words = runner.split_whitespace();
    let mut command = Command::new(words.next().expect("a runner has a name"));
    command.args(words).arg(program);
    command
}

/// Runs `role` in `directory`; returns the exit status and the output of the process.
fn run(role: &str, directory: &Path) -> (ExitStatus, String) {
    let result = this_program()
        .args(only(concat!(module_path!(), "::helper_process")))
        .env(ROLE, role)
        .env(DIRECTORY, directory)
        .output()
        .unwrap();
    let output =
        String::from_utf8_lossy(&result.stdout).into_owned() + &String::from_utf8_lossy(&result.stderr);
    (result.status, output)
}

#[track_caller]
fn assert_done(role: &str, directory: &Path) {
    let (status, output) = run(role, directory);
    assert!(status.success() && output.contains(DONE), "{role}: {:?}: {output}", status.signal());
    if let Some(line) = output.lines().find(|line| line.starts_with(NOT_HERE)) {
        // Written without a macro, whose output the test runner would hide.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

/// The other process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = PathBuf::from(std::env::var_os(DIRECTORY).unwrap()).join("000003.log");
    match role.as_str() {
        "cut" => cut_under_the_log(&path),
        "shut down" => shut_down_under_the_log(&path),
        "foreign fault" => {
            let _log = mapped_log(&path);
            fault(&path);
        }
        "foreign handler before" => {
            set_handler(leave);
            let mut log = mapped_log(&path);
            File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
            assert_input_output(&fail(&mut *log));
            fault(&path);
        }
        "chain" => {
            // A handler set before ours must see what it would have seen without us.
            set_handler(note_and_map);
            let _log = mapped_log(&path);
            fault(&path);
            assert_eq!(NOTED.load(Ordering::SeqCst), FAULTED.load(Ordering::SeqCst));
        }
        "ignored" => {
            // SAFETY: no handler is involved.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_IGN) };
            let _log = mapped_log(&path);
            // SAFETY: sends a signal to this thread.
            unsafe { libc::raise(libc::SIGBUS) };
        }
        "raised" => {
            // SAFETY: no handler is involved. The standard library's handler ignores a signal without a fault.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
            let _log = mapped_log(&path);
            // SAFETY: sends a signal to this thread.
            unsafe { libc::raise(libc::SIGBUS) };
        }
        "foreign handler afterwards" => {
            drop(mapped_log(&path));
            set_handler(leave);
            let mut log = PosixEnv::new().create_log(&path).unwrap();
            add(&mut *log).unwrap();
            assert_eq!(
                fs::metadata(&path).unwrap().len(),
                log.size_bytes(),
                "without a guard, nothing is mapped"
            );
        }
        other => panic!("no such role: {other}"),
    }
    println!("\n{DONE}");
}

fn add(log: &mut dyn LogFile) -> Result<(), EnvError> {
    log.append_record(0, &[1; 7], &[2; 1000])
}

/// Adds records until one is refused.
fn fail(log: &mut dyn LogFile) -> EnvError {
    (0..100_000).find_map(|_| add(log).err()).expect("a record for which there is no page is refused")
}

#[track_caller]
fn assert_input_output(error: &EnvError) {
    assert_eq!(error.source.raw_os_error(), Some(libc::EIO), "{error}");
}

/// A log that has space ready.
fn mapped_log(path: &Path) -> Box<dyn LogFile> {
    let mut log = PosixEnv::new().create_log(path).unwrap();
    add(&mut *log).unwrap();
    assert!(fs::metadata(path).unwrap().len() > log.size_bytes(), "the log is mapped");
    log
}

fn cut_under_the_log(path: &Path) {
    // Each size is stored by different instructions that can fault: the head, single bytes, pieces of 16, the
    // processor's own copy.
    for (number, body_size_bytes) in [1, 5, 1000, 30_000].into_iter().enumerate() {
        let path = path.with_file_name(format!("{:06}.log", 100 + number));
        let mut log = mapped_log(&path);
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        let body = vec![3; body_size_bytes];
        let refused = (0..100_000).find_map(|_| log.append_record(0, &[1; 7], &body).err());
        assert_input_output(&refused.expect("a record for which there is no page is refused"));
        let _ = log.close();
    }
    // The first record after a sync is not stored, but written.
    let synced = path.with_file_name("000099.log");
    let mut log = mapped_log(&synced);
    log.sync().unwrap();
    File::options().write(true).open(&synced).unwrap().set_len(0).unwrap();
    assert_input_output(&add(&mut *log).unwrap_err());
    assert_eq!(fs::metadata(&synced).unwrap().len(), 0);
    let _ = log.close();

    let mut log = mapped_log(path);
    File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    assert_input_output(&fail(&mut *log));
    // Its state is unknown: it is given up and left unchanged.
    assert!(add(&mut *log).is_err() && log.sync().is_err());
    assert!(!log.is_damaged(), "a truncation would not heal it");
    let _ = log.close();
    assert_eq!(fs::metadata(path).unwrap().len(), 0);
    // Another log works as ever.
    add(&mut *mapped_log(path)).unwrap();
}

/// `EXT4_IOC_SHUTDOWN`, which XFS also knows, and its flag for doing so at once.
const SHUT_DOWN: libc::c_ulong = 0x8004_587d;
static AT_ONCE: u32 = 2;

fn shut_down_under_the_log(path: &Path) {
    let mut log = mapped_log(path);
    log.sync().unwrap();
    let directory = File::open(path.parent().unwrap()).unwrap();
    // SAFETY: the call reads a number, which lives during the call.
    let result = unsafe { libc::ioctl(directory.as_raw_fd(), SHUT_DOWN, &raw const AT_ONCE) };
    let problem = std::io::Error::last_os_error();
    if result != 0 && problem.raw_os_error() == Some(libc::ENOSYS) {
        // As under an emulator.
        println!("{NOT_HERE}: no file system can be shut down: {problem}");
        return;
    }
    assert_eq!(result, 0, "{problem}");
    assert_input_output(&fail(&mut *log));
    assert!(log.sync().is_err());
    let _ = log.close();
}

/// Reads a mapped page after the end of its file.
fn fault(path: &Path) {
    let path = path.with_extension("foreign");
    fs::write(&path, [1; 4096]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    // SAFETY: a new mapping of a page, which is never unmapped.
    let page = unsafe {
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_ne!(page, libc::MAP_FAILED);
    file.set_len(0).unwrap();
    FAULTED.store(page as usize, Ordering::SeqCst);
    // SAFETY: the page is mapped; the read is meant to fault.
    let byte = unsafe { page.cast::<u8>().read_volatile() };
    assert_eq!(byte, 0, "the handler has put another page there");
}

static FAULTED: AtomicUsize = AtomicUsize::new(0);
static NOTED: AtomicUsize = AtomicUsize::new(0);

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);

fn set_handler(handler: Handler) {
    // SAFETY: zero is a value for the structure, and the handler is one with three arguments.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()), 0);
    }
}

extern "C" fn leave(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel hands over a valid pointer.
    let address = unsafe { (*info).si_addr() } as usize;
    let code = if address == FAULTED.load(Ordering::SeqCst) { FOREIGN_EXIT } else { 1 };
    // SAFETY: may be called in a handler.
    unsafe { libc::_exit(code) };
}

extern "C" fn note_and_map(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel hands over a valid pointer; the page belongs to the test.
    unsafe {
        let address = (*info).si_addr();
        NOTED.store(address as usize, Ordering::SeqCst);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        libc::mmap(address, 4096, libc::PROT_READ, flags, -1, 0);
    }
}

#[test]
fn a_log_that_is_cut_by_another_program_ends_in_an_error_and_not_the_process() {
    for directory in [tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap()] {
        assert_done("cut", directory.path());
    }
}

#[test]
fn a_foreign_fault_ends_the_process_as_ever() {
    let directory = tempfile::tempdir().unwrap();
    for role in ["foreign fault", "raised"] {
        let (status, output) = run(role, directory.path());
        assert_eq!(status.signal(), Some(libc::SIGBUS), "{role}: {output}");
    }
}

#[test]
fn a_handler_that_was_there_before_gets_the_faults_that_are_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (status, output) = run("foreign handler before", directory.path());
    assert_eq!(status.code(), Some(FOREIGN_EXIT), "{output}");
    assert_done("chain", directory.path());
    assert_done("ignored", directory.path());
}

#[test]
fn under_a_handler_that_came_afterwards_no_log_is_mapped() {
    let directory = tempfile::tempdir().unwrap();
    assert_done("foreign handler afterwards", directory.path());
}

#[test]
fn records_after_a_sync_lie_where_they_would_be_stored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("000003.log");
    let mut log = PosixEnv::new().create_log(&path).unwrap();
    let mut expected = Vec::new();
    let mut add = |index: u8, body_size_bytes: usize| {
        let (header, body) = ([index + 1; 7], vec![index + 101; body_size_bytes]);
        log.append_record(0, &header, &body).unwrap();
        expected.extend_from_slice(&header);
        expected.extend_from_slice(&body);
        assert!(fs::read(&path).unwrap().starts_with(&expected), "record {index}");
        log.sync().unwrap();
        expected.len()
    };
    // Headers begin at each of the last bytes of a page, and at the first of the next one.
    let mut size_bytes = 0;
    for index in 0..20 {
        let left_bytes = 4096 - size_bytes % 4096;
        let body_size_bytes = if index % 2 == 0 { left_bytes - 7 - index / 2 } else { 1000 };
        size_bytes = add(index as u8, body_size_bytes);
    }
    add(20, 20_000);
    add(21, 1);
    log.close().unwrap();
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[test]
fn a_log_that_is_not_to_be_mapped_is_as_long_as_its_records() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("000003.log");
    let mut log = PosixEnv::new().create_unmapped_log(&path).unwrap();
    for _ in 0..100 {
        add(&mut *log).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), log.size_bytes());
    }
}

/// A file system in a file, on a loop device.
struct Disk {
    directory: tempfile::TempDir,
}

impl Disk {
    /// If this needs more rights or tools than there are, says so and lets the test pass.
    fn new(make: &[&str], size_bytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let (image, target) = (directory.path().join("image"), directory.path().join("disk"));
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        fs::create_dir(&target).unwrap();
        let steps = [
            Command::new(make[0]).args(&make[1..]).arg(&image).output(),
            Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&target).output(),
        ];
        for step in steps {
            let problem = match step {
                Ok(output) if output.status.success() => continue,
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => format!("{}: {error}", make[0]),
            };
            // Written without a macro, whose output the test runner would hide.
            let _ = writeln!(std::io::stderr(), "skipped: no file system can be mounted: {problem}");
            return None;
        }
        Some(Self { directory })
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("disk")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[test]
fn a_file_system_that_is_shut_down_ends_in_an_error_and_not_the_process() {
    let Some(disk) = Disk::new(&["mkfs.ext4", "-q"], 64 << 20) else { return };
    assert_done("shut down", &disk.path());
}

#[test]
fn a_log_whose_extents_are_shared_by_a_copy_is_refused_on_a_full_disk_and_goes_on_later() {
    let Some(disk) = Disk::new(&["mkfs.xfs", "-q"], 320 << 20) else { return };
    let (path, copy) = (disk.path().join("000003.log"), disk.path().join("copy"));
    let env = PosixEnv::new();
    let mut log = env.create_log(&path).unwrap();
    (0..500).for_each(|_| add(&mut *log).unwrap());
    log.sync().unwrap();
    let copied = Command::new("cp").arg("--reflink=always").args([&path, &copy]).status().unwrap();
    assert!(copied.success());
    // Almost nothing is left.
    let ballast = disk.path().join("ballast");
    let mut file = File::create(&ballast).unwrap();
    for piece_bytes in [1 << 20, 4096, 512] {
        while file.write_all(&vec![1; piece_bytes]).is_ok() {}
    }
    drop(file);
    let before = log.size_bytes();
    let refused = fail(&mut *log);
    assert!(refused.is_no_space(), "{refused}");
    assert!(!log.is_damaged());
    let accepted = log.size_bytes();
    assert!(accepted >= before);
    make_room(&ballast);
    add(&mut *log).unwrap();
    log.sync().unwrap();
    log.close().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), accepted + 1007);
    assert_eq!(fs::metadata(&copy).unwrap().len(), before, "the copy is what it was");
}
