//! Memory that two processes share: one question and one answer at a time, little endian, as the socket carries them.
//!
//! Both look at one number, `turn`. Who waits looks at it without a pause at first, for answers take microseconds, then less and less often.
//! What is longer than the memory goes over the socket beside it.
//!
//! Unsafe, because memory of two processes is a pointer to the compiler: the turn says whose it is.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Bytes of the memory, and of its head.
const BYTES: usize = 1 << 20;
const HEAD: usize = 64;
/// Who waits looks this often without a pause.
const LOOKS: u32 = 20_000;
/// Then other threads may go on, for so long; then it sleeps between looks.
const PATIENCE: Duration = Duration::from_millis(2);
const NAP: Duration = Duration::from_micros(100);
/// After a second without a word it sleeps longer.
const SILENCE: Duration = Duration::from_secs(1);
const SLEEP: Duration = Duration::from_millis(2);

// the same on Linux and macOS
const READ_WRITE: c_int = 3;
const SHARED: c_int = 1;

unsafe extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, from: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> c_int;
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Turn {
    /// Nothing has been said.
    Nobody = 0,
    /// A question stands in the memory.
    Question = 1,
    /// An answer stands in the memory.
    Answer = 2,
    /// Whoever it is for finds it on the socket.
    Socket = 3,
}

/// Memory shared with another process.
pub struct Shared {
    start: NonNull<u8>,
}

// SAFETY: a place in memory that no thread owns; what is in it is read and written by whose turn it is.
unsafe impl Send for Shared {}

impl Shared {
    /// Makes the file of the memory; it may be deleted once both have opened it.
    pub fn create(path: &Path) -> Result<Shared> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        file.set_len(BYTES as u64)?;
        Shared::map(&file)
    }

    /// Opens the memory that another process made.
    pub fn open(path: &Path) -> Result<Shared> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < BYTES as u64 {
            return Err(Error::new(ErrorKind::InvalidData, "the shared memory is too short"));
        }
        Shared::map(&file)
    }

    fn map(file: &File) -> Result<Shared> {
        // SAFETY: a new mapping of a file that is as long; nothing else lies there.
        let start = unsafe { mmap(std::ptr::null_mut(), BYTES, READ_WRITE, SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast()) {
            // what the system returns where it failed is -1
            Some(start) if start.as_ptr() as isize != -1 => Ok(Shared { start }),
            _ => Err(Error::last_os_error()),
        }
    }

    fn turn(&self) -> &AtomicU32 {
        // SAFETY: the mapping is aligned to pages and as long; all access to this number is atomic.
        unsafe { self.start.cast::<AtomicU32>().as_ref() }
    }

    /// Bytes that fit.
    pub fn room(&self) -> usize {
        BYTES - HEAD
    }

    /// Writes bytes, or what says that they are on the socket, and gives the turn away.
    pub fn put(&mut self, bytes: Option<&[u8]>, turn: Turn) {
        let Some(bytes) = bytes.filter(|own| own.len() <= self.room()) else {
            return self.turn().store(Turn::Socket as u32 | (turn as u32) << 8, Ordering::Release);
        };
        let length = (bytes.len() as u32).to_le_bytes();
        // SAFETY: it is our turn; the bytes fit behind the head.
        unsafe {
            std::ptr::copy_nonoverlapping(length.as_ptr(), self.start.as_ptr().add(8), length.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(HEAD), bytes.len());
        }
        self.turn().store(turn as u32, Ordering::Release);
    }

    /// Waits until the other side gives this turn: its bytes, or none where they are on the socket. `alive` is asked now and then.
    pub fn take(
        &mut self,
        wanted: Turn,
        limit: Option<Duration>,
        alive: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Vec<u8>>> {
        let (mut looks, mut began) = (0_u32, None);
        loop {
            match self.turn().load(Ordering::Acquire) {
                turn if turn == wanted as u32 => break,
                turn if turn == Turn::Socket as u32 | (wanted as u32) << 8 => {
                    self.turn().store(Turn::Nobody as u32, Ordering::Release);
                    return Ok(None);
                }
                _ => {}
            }
            looks = looks.saturating_add(1);
            if looks < LOOKS {
                std::hint::spin_loop();
                continue;
            }
            let elapsed = began.get_or_insert_with(Instant::now).elapsed();
            if limit.is_some_and(|limit| elapsed > limit) {
                return Err(Error::from(ErrorKind::TimedOut));
            }
            if elapsed < PATIENCE {
                std::thread::yield_now();
            } else {
                alive()?;
                std::thread::sleep(if elapsed < SILENCE { NAP } else { SLEEP });
            }
        }
        let mut length = [0; 4];
        // SAFETY: it is our turn, and the other side wrote before it gave it to us.
        let bytes = unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr().add(8), length.as_mut_ptr(), length.len());
            let length = (u32::from_le_bytes(length) as usize).min(self.room());
            std::slice::from_raw_parts(self.start.as_ptr().add(HEAD), length).to_vec()
        };
        self.turn().store(Turn::Nobody as u32, Ordering::Release);
        Ok(Some(bytes))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`, which nobody uses after this.
        unsafe {
            munmap(self.start.as_ptr().cast(), BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions and answers of all lengths come over whole, and what does not fit says so.
    #[test]
    fn what_is_said_is_heard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory");
        let mut mine = Shared::create(&path).unwrap();
        let mut theirs = Shared::open(&path).unwrap();
        let mut never = || Ok(());
        let other = std::thread::spawn(move || {
            while let Some(bytes) = theirs.take(Turn::Question, None, &mut || Ok(())).unwrap() {
                let doubled: Vec<u8> = bytes.iter().chain(&bytes).copied().collect();
                theirs.put(Some(&doubled), Turn::Answer);
            }
        });
        for length in [0, 1, 8, 1000, BYTES / 2 - HEAD] {
            let bytes: Vec<u8> = (0..length).map(|k| k as u8).collect();
            mine.put(Some(&bytes), Turn::Question);
            let limit = Some(Duration::from_secs(10));
            let answer = mine.take(Turn::Answer, limit, &mut never).unwrap().unwrap();
            assert_eq!(answer.len(), 2 * length);
            assert!(answer[..length] == bytes && answer[length..] == bytes);
        }
        mine.put(Some(&vec![0; BYTES]), Turn::Question);
        other.join().unwrap();
        let silent = mine.take(Turn::Answer, Some(Duration::from_millis(5)), &mut never).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
    }
}
