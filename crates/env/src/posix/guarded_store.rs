//! A store into a mapped file that ends with an error, instead of ending the process, if the file has no page for it.
//!
//! The routine is written in assembly so that its instructions are known, and the registers at each of them. It calls
//! nothing, touches no stack, and holds no lock. While it stores, two registers hold the bounds of the record. The
//! handler of `SIGBUS` (`fault_handler`) therefore needs no list of mappings: a fault at an instruction of this
//! routine, at an address within these bounds, is a fault of this store. Execution then resumes at the routine's second
//! exit, which reports it. (The kernel does the same with its table of exceptions when it copies from a program's
//! memory.) Other faults, including one at the source of the copy, are not ours.

use std::arch::global_asm;

/// The instructions whose faults are ours, and where execution resumes after one.
pub(super) struct Guarded {
    /// From the first instruction that may fault to the end of the last.
    pub(super) instructions: std::ops::Range<usize>,
    /// The exit that reports the failure.
    pub(super) failed: usize,
}

unsafe extern "C" {
    /// Stores `body_size` bytes from `body` at `record + 8`, then `head` at `record`. Returns 0, or 1 after a fault;
    /// any part may then be stored, but not `head`.
    fn terrace_guarded_store_0_1(record: *mut u8, body: *const u8, body_size: usize, head: u64) -> u32;
    static terrace_guarded_store_end_0_1: u8;
    static terrace_guarded_store_failed_0_1: u8;
}

/// Stores `body` and then, by one instruction, the eight bytes of `head` before it. `false` if the file has no page
/// for them (it was truncated, the device or the file system fails, there is no room): `head` is not stored then.
///
/// This requires `fault_handler` to be in place; without it such a fault ends the process.
///
/// # Safety
///
/// The eight bytes from `record` on, and the size of `body` after them, are mapped, writable, and not used by anybody
/// else.
#[inline]
pub(super) unsafe fn store(record: *mut u8, head: u64, body: &[u8]) -> bool {
    // SAFETY: the caller guarantees the target, and `body` is a slice. The routine follows the system's calling
    // convention: it changes no register that it would have to preserve, and leaves the stack alone.
    unsafe { terrace_guarded_store_0_1(record, body.as_ptr(), body.len(), head.to_le()) == 0 }
}

/// What the handler must know about the routine.
pub(super) fn guarded() -> Guarded {
    let start = terrace_guarded_store_0_1 as *const () as usize;
    let end = &raw const terrace_guarded_store_end_0_1 as usize;
    Guarded { instructions: start..end, failed: &raw const terrace_guarded_store_failed_0_1 as usize }
}

/// The bounds of the record that the routine stores, from the registers of a thread interrupted in it.
#[cfg(target_arch = "x86_64")]
pub(super) fn record_of(context: &libc::ucontext_t) -> std::ops::Range<usize> {
    let registers = &context.uc_mcontext.gregs;
    registers[libc::REG_R8 as usize] as usize..registers[libc::REG_R9 as usize] as usize
}

#[cfg(target_arch = "aarch64")]
pub(super) fn record_of(context: &libc::ucontext_t) -> std::ops::Range<usize> {
    context.uc_mcontext.regs[4] as usize..context.uc_mcontext.regs[5] as usize
}

/// The instruction at which a thread interrupted in `context` resumes.
#[cfg(target_arch = "x86_64")]
pub(super) fn instruction(context: &mut libc::ucontext_t) -> &mut libc::greg_t {
    &mut context.uc_mcontext.gregs[libc::REG_RIP as usize]
}

#[cfg(target_arch = "aarch64")]
pub(super) fn instruction(context: &mut libc::ucontext_t) -> &mut libc::c_ulonglong {
    &mut context.uc_mcontext.pc
}

// r8 and r9 hold the bounds of the record. Short bodies are copied in pieces of 16 bytes, the last of which may
// overlap the one before; long ones by the processor's own copy. On this processor stores become visible in their
// order.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.terrace_guarded_store,\"ax\",@progbits",
    ".globl terrace_guarded_store_0_1, terrace_guarded_store_end_0_1, terrace_guarded_store_failed_0_1",
    ".hidden terrace_guarded_store_0_1, terrace_guarded_store_end_0_1, terrace_guarded_store_failed_0_1",
    ".type terrace_guarded_store_0_1,@function",
    ".p2align 4",
    "terrace_guarded_store_0_1:",
    ".cfi_startproc",
    "mov r8, rdi",
    "lea r9, [rdi + rdx + 8]",
    "mov r10, rcx",
    "lea rdi, [rdi + 8]",
    "cmp rdx, 16",
    "jb 4f",
    "cmp rdx, 512",
    "jae 3f",
    "lea r11, [rdx - 16]",
    "movdqu xmm1, [rsi + r11]",
    "xor eax, eax",
    "2:",
    "movdqu xmm0, [rsi + rax]",
    "movdqu [rdi + rax], xmm0",
    "add rax, 16",
    "cmp rax, r11",
    "jb 2b",
    "movdqu [rdi + r11], xmm1",
    "jmp 6f",
    "3:",
    "mov rcx, rdx",
    "rep movsb",
    "jmp 6f",
    "4:",
    "xor eax, eax",
    "5:",
    "cmp rax, rdx",
    "jae 6f",
    "mov cl, [rsi + rax]",
    "mov [rdi + rax], cl",
    "inc rax",
    "jmp 5b",
    "6:",
    "mov [r8], r10",
    "xor eax, eax",
    "terrace_guarded_store_end_0_1:",
    "ret",
    "terrace_guarded_store_failed_0_1:",
    "mov eax, 1",
    "ret",
    ".cfi_endproc",
    ".size terrace_guarded_store_0_1, . - terrace_guarded_store_0_1",
    ".popsection",
);

// x4 and x5 hold the bounds of the record. The barrier makes the head visible after the body, to other mappings of
// the file too.
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text.terrace_guarded_store,\"ax\",@progbits",
    ".globl terrace_guarded_store_0_1, terrace_guarded_store_end_0_1, terrace_guarded_store_failed_0_1",
    ".hidden terrace_guarded_store_0_1, terrace_guarded_store_end_0_1, terrace_guarded_store_failed_0_1",
    ".type terrace_guarded_store_0_1,@function",
    ".p2align 4",
    "terrace_guarded_store_0_1:",
    ".cfi_startproc",
    "mov x4, x0",
    "add x5, x0, #8",
    "mov x6, x5",
    "add x5, x5, x2",
    "2:",
    "cmp x2, #16",
    "b.lo 3f",
    "ldp x7, x8, [x1], #16",
    "stp x7, x8, [x6], #16",
    "sub x2, x2, #16",
    "b 2b",
    "3:",
    "cbz x2, 4f",
    "ldrb w7, [x1], #1",
    "strb w7, [x6], #1",
    "sub x2, x2, #1",
    "b 3b",
    "4:",
    "dmb ishst",
    "str x3, [x4]",
    "mov w0, #0",
    "terrace_guarded_store_end_0_1:",
    "ret",
    "terrace_guarded_store_failed_0_1:",
    "mov w0, #1",
    "ret",
    ".cfi_endproc",
    ".size terrace_guarded_store_0_1, . - terrace_guarded_store_0_1",
    ".popsection",
);

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD_SIZE_BYTES: usize = 8;

    #[test]
    fn stores_bodies_of_every_size_and_nothing_beside_them() {
        for size in (0..600).chain([4096, 5000, 32 << 10, 100_000]) {
            let body: Vec<u8> = (0..size).map(|index| (index * 7 + 1) as u8).collect();
            let head = 0x8877_6655_4433_2211_u64;
            for shift in [0, 1, 7] {
                let mut target = vec![0xee; shift + HEAD_SIZE_BYTES + size + 16];
                // SAFETY: head, body and 16 more bytes lie within the vector, which nothing else uses.
                assert!(unsafe { store(target.as_mut_ptr().add(shift), head, &body) });
                let (before, rest) = target.split_at(shift);
                let (stored, after) = rest.split_at(HEAD_SIZE_BYTES + size);
                assert!(before.iter().chain(after).all(|byte| *byte == 0xee), "size {size}");
                assert_eq!(stored[..HEAD_SIZE_BYTES], head.to_le_bytes(), "size {size}");
                assert!(stored[HEAD_SIZE_BYTES..] == body, "size {size}");
            }
        }
    }

    #[test]
    fn the_exits_lie_after_what_may_fault() {
        let Guarded { instructions, failed } = guarded();
        assert!(!instructions.is_empty() && failed >= instructions.end);
    }
}
