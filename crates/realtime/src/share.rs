//! Work in lots, shared by threads.

use std::sync::Mutex;

/// All lots, by this thread and those of the pool: whoever is done takes the next. This thread begins at once, before
/// others are awake; what a lot does must not ask for threads itself.
pub fn share<L: Send>(
    pool: &rayon::ThreadPool,
    lots: impl ExactSizeIterator<Item = L> + Send,
    work: impl Fn(L) + Sync,
) {
    let threads = pool.current_num_threads().min(lots.len());
    let lots = Mutex::new(lots);
    let next = || lots.lock().ok()?.next();
    let go = || {
        while let Some(lot) = next() {
            work(lot);
        }
    };
    pool.in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| go());
        }
        go();
    });
}
