//! The handler of `SIGBUS`: turns the fault of a [guarded store](super::guarded_store) into its error, and leaves
//! every other fault to the handler that was responsible before.
//!
//! # Why a library may do this
//!
//! A handler belongs to the whole process. This one does not affect other code, because:
//!
//! 1. It acts only on a fault at an instruction of our own routine and at an address that this routine stores to. No
//!    other code of the process can cause such a fault.
//! 2. For every other signal it does what the previous action would have done: it calls that handler, with the same
//!    arguments, on the same stack and with the same signals blocked; or it ends the process by the same signal, at
//!    the same instruction, with the same report.
//! 3. It is installed only when the first log is mapped: never with `map_log` off, or where logs are not mapped.
//! 4. It is not installed over a handler that was set after it: that one might call ours, and ours that one. While
//!    another handler is in force, logs are not mapped. A program that sets its own handler later need do nothing,
//!    and loses only speed from the next step of the log on; only what is mapped at that moment is unguarded.
//! 5. The handler calls nothing that is unsafe in a handler, and the library that contains it stays loaded.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use super::guarded_store::{guarded, instruction, record_of};

/// The action before ours, if ours could be installed.
static PREVIOUS: OnceLock<Option<libc::sigaction>> = OnceLock::new();

/// Faults after which a handler's return runs the same instruction again: `BUS_ADRALN`, `BUS_ADRERR`, `BUS_OBJERR`, `BUS_MCEERR_AR`.
const OF_AN_INSTRUCTION: std::ops::RangeInclusive<libc::c_int> = 1..=4;

/// Makes sure that guarded stores are guarded. If it returns `false`, a fault in one of them would end the process.
pub(super) fn is_in_place() -> bool {
    PREVIOUS.get_or_init(install).is_some() && action().is_some_and(|action| is_ours(&action))
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == on_fault as *const () as usize
}

/// The current action for `SIGBUS`.
fn action() -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: the call only asks, and writes a whole `sigaction` if it succeeds.
    (unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), action.as_mut_ptr()) } == 0)
        // SAFETY: it succeeded.
        .then(|| unsafe { action.assume_init() })
}

fn install() -> Option<libc::sigaction> {
    let previous = action()?;
    let has_handler = !matches!(previous.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN);
    // SAFETY: a C structure of integers and an optional function, for which zero is a value.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = on_fault as *const () as usize;
    // A handler of stack overflows needs another stack; ours works on any.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    if has_handler {
        let kept = libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        ours.sa_flags = libc::SA_SIGINFO | previous.sa_flags & kept;
        ours.sa_mask = previous.sa_mask;
    }
    keep_loaded();
    let mut replaced = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `ours` is a whole action whose handler keeps to the contract of one with `SA_SIGINFO`.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, replaced.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it wrote what it replaced.
    let replaced = unsafe { replaced.assume_init() };
    if replaced.sa_sigaction == previous.sa_sigaction {
        return Some(previous);
    }
    // Another thread has set a handler in the meantime: put it back.
    // SAFETY: the action that was in force a moment ago.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const replaced, ptr::null_mut()) };
    None
}

/// Unloading the library would leave the process with a handler that no longer exists.
fn keep_loaded() {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the call accepts any address; if it succeeds it names a loaded file. Opening that file again only adds
    // one owner.
    unsafe {
        if libc::dladdr(on_fault as *const c_void, info.as_mut_ptr()) != 0 {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(info.assume_init().dli_fname, flags);
        }
    }
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel calls a handler with `SA_SIGINFO` with valid pointers to both, which last during the call.
    let (siginfo, thread) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let guarded = guarded();
    let at = *instruction(thread) as usize;
    if guarded.instructions.contains(&at) && OF_AN_INSTRUCTION.contains(&siginfo.si_code) {
        // SAFETY: for these codes the kernel states the address.
        let address = unsafe { siginfo.si_addr() } as usize;
        if record_of(thread).contains(&address) {
            *instruction(thread) = guarded.failed as _;
            return;
        }
    }
    // Set before our handler is in force, except in the moment of its installation.
    let previous = PREVIOUS.get().and_then(Option::as_ref);
    match previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction) {
        libc::SIG_IGN if !OF_AN_INSTRUCTION.contains(&siginfo.si_code) => {}
        // The kernel does not let a thread ignore the fault of an instruction.
        libc::SIG_DFL | libc::SIG_IGN => end_process(signal, siginfo),
        handler => {
            let flags = previous.map_or(0, |previous| previous.sa_flags);
            if flags & libc::SA_RESETHAND != 0 {
                reset(signal);
            }
            if flags & libc::SA_SIGINFO != 0 {
                type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
                // SAFETY: the owner of the handler declared by the flag that it is such a function.
                let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
                handler(signal, info, context);
            } else {
                // SAFETY: without the flag it is a function of the signal alone.
                let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler) };
                handler(signal);
            }
        }
    }
}

/// Puts the system's own action in force.
fn reset(signal: libc::c_int) {
    // SAFETY: zero is the default action without flags; `sigaction` may be called in a handler.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &raw const default, ptr::null_mut());
    }
}

/// Does what the system does when no handler is set. A faulting instruction faults again, which gives the right report.
fn end_process(signal: libc::c_int, siginfo: &libc::siginfo_t) {
    reset(signal);
    if !OF_AN_INSTRUCTION.contains(&siginfo.si_code) {
        // SAFETY: may be called in a handler. The signal arrives as soon as this one has been handled.
        unsafe { libc::raise(signal) };
    }
}
