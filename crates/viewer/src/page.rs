//! The page, embedded.

use crate::ViewerError;

/// The parts of the page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// HTML.
    pub index: &'static str,
    /// Script.
    pub script: &'static str,
    /// Style sheet.
    pub style: &'static str,
    /// HTML with script and style inside, and places for data.
    pub standalone: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The page, or why there is none.
pub fn page() -> Result<Page, ViewerError> {
    EMBEDDED.map_err(ViewerError::NoPage)
}
