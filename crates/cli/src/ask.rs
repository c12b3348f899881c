//! A command for a program instead of a terminal: its data is handed over, not printed, and who asked may stop it.

use crate::{Cli, Stop, execute};
use clap::Parser;
use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;

/// Who asked, on this thread.
struct Asker {
    data: String,
    stop: Rc<dyn Fn() -> bool>,
}

thread_local! {
    static ASKER: RefCell<Option<Asker>> = const { RefCell::new(None) };
}

/// Runs a command line, the program's name first, and returns what it prints on stdout, and how it ended. Nothing is
/// said on stderr. `stop` is asked now and then; where it answers true the command stops in good order.
pub fn answer(
    words: impl IntoIterator<Item = OsString>,
    stop: impl Fn() -> bool + 'static,
) -> (String, Result<(), Stop>) {
    let command = match Cli::try_parse_from(words) {
        Ok(cli) => cli.command,
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or_default();
            return (String::new(), Err(Stop::Usage(text.to_owned())));
        }
        Err(error) => return (error.to_string(), Ok(())),
    };
    ASKER.set(Some(Asker { data: String::new(), stop: Rc::new(stop) }));
    let done = execute(command);
    (ASKER.take().map_or_else(String::new, |asker| asker.data), done)
}

/// True while a program asks on this thread.
pub fn asked() -> bool {
    ASKER.with_borrow(Option::is_some)
}

/// Keeps a line for whoever asks; false if nobody does.
pub fn keep(line: &str) -> bool {
    ASKER.with_borrow_mut(|asker| match asker {
        Some(asker) => {
            asker.data.push_str(line);
            asker.data.push('\n');
            true
        }
        None => false,
    })
}

/// True if whoever asks wants the command to stop.
pub fn stopped() -> bool {
    let stop = ASKER.with_borrow(|asker| asker.as_ref().map(|asker| asker.stop.clone()));
    stop.is_some_and(|stop| stop())
}
