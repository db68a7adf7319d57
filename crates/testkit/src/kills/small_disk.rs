//! A small ext4 file system in a file, which can be filled until there is really no room.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

const BALLAST: &str = "ballast";
/// Sizes of the pieces that fill it: no gap of the larger size remains when the smaller one's turn comes.
const PIECES_BYTES: [usize; 2] = [64 << 10, 512];

/// A mounted file system. It is unmounted on drop.
pub struct SmallDisk {
    image: PathBuf,
    target: PathBuf,
}

impl SmallDisk {
    /// Creates and mounts one of `size_bytes`, with its image and its mount point in `directory`.
    ///
    /// # Errors
    ///
    /// Why it is impossible here: it needs root, loop devices and mkfs.ext4.
    pub fn new(directory: &Path, size_bytes: u64) -> Result<Self, String> {
        let disk = Self { image: directory.join("image"), target: directory.join("disk") };
        let image = File::create(&disk.image).and_then(|image| image.set_len(size_bytes));
        image.and_then(|()| fs::create_dir(&disk.target)).map_err(|error| error.to_string())?;
        // No blocks are reserved for root.
        call(Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(&disk.image))?;
        disk.mount()?;
        Ok(disk)
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Uses up all remaining room.
    ///
    /// # Errors
    ///
    /// If anything but the lack of room stops it.
    pub fn fill(&self) -> Result<(), String> {
        let path = self.target.join(BALLAST);
        let mut ballast =
            File::options().create(true).append(true).open(path).map_err(|error| error.to_string())?;
        for piece_bytes in PIECES_BYTES {
            let piece = vec![1; piece_bytes];
            loop {
                match ballast.write_all(&piece) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
        Ok(())
    }

    /// Gives back the room that [`fill`](Self::fill) took.
    ///
    /// # Errors
    ///
    /// If the room cannot be given back.
    pub fn free(&self) -> Result<(), String> {
        let path = self.target.join(BALLAST);
        // Cut off first: a program that is being started may have it open for a moment.
        File::create(&path).and_then(|_| fs::remove_file(&path)).map_err(|error| error.to_string())
    }

    /// Unmounts and mounts it again, so that later reads come from the image.
    ///
    /// # Errors
    ///
    /// If it cannot be unmounted or mounted, for example because a file is open.
    pub fn remount(&self) -> Result<(), String> {
        call(Command::new("umount").arg(&self.target))?;
        self.mount()
    }

    fn mount(&self) -> Result<(), String> {
        call(Command::new("mount").args(["-o", "loop"]).arg(&self.image).arg(&self.target))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Works even if a file is still open after a failure.
        let _ = call(Command::new("umount").arg("-l").arg(&self.target));
    }
}

fn call(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim_end()))
}
