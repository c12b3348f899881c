//! A run as one file that a browser opens from anywhere, without a server and without a network.

use crate::page::page;
use crate::{Recorded, ViewerError, block};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes of rows in one file at most; of a longer run every second, third, ... row is kept.
const BYTES: usize = 48 << 20;
/// Bytes of grains in it at most.
const GRAIN_BYTES: usize = 24 << 20;
/// Where the page keeps its data.
const PLACE: &str = "<!--DATA-->";

/// The page with these runs inside.
pub fn standalone(runs: &[&Recorded]) -> Result<String, ViewerError> {
    let page = page()?;
    let mut documents = Vec::new();
    let mut data = String::new();
    for (k, run) in runs.iter().enumerate() {
        let row =
            block::row_bytes(&run.run().manifest.subjects) + 4 * run.surfaces().iter().map(|s| s.stride).sum::<usize>();
        let bytes = run.rows().saturating_mul(row);
        let every = bytes.div_ceil(BYTES / runs.len()).max(1);
        let rows = STANDARD.encode(run.thinned(every)?);
        data += &format!("<script type=\"text/plain\" id=\"rows-{k}\">{rows}</script>\n");
        let grains = run.grain_frames(GRAIN_BYTES / runs.len())?;
        if !grains.is_empty() {
            let grains = STANDARD.encode(grains);
            data += &format!("<script type=\"text/plain\" id=\"grains-{k}\">{grains}</script>\n");
        }
        for (i, surface) in run.surfaces().iter().enumerate() {
            let mut bytes = Vec::new();
            for row in (0..run.rows()).filter(|row| row.is_multiple_of(every) || row + 1 == run.rows()) {
                bytes.extend(surface.rows(row..row + 1)?);
            }
            let values = STANDARD.encode(bytes);
            data += &format!("<script type=\"text/plain\" id=\"surface-{k}-{i}\">{values}</script>\n");
        }
        let mut document = run.document();
        if let Some(object) = document.as_object_mut() {
            object.insert("events".to_owned(), run.events()?);
            object.insert("every".to_owned(), every.into());
        }
        documents.push(document);
    }
    let scene = serde_json::json!({
        "protocol": 1,
        "program": concat!("tippe ", env!("CARGO_PKG_VERSION")),
        "generation": 0,
        "runs": documents,
    });
    // No text of a scene can end the element: there is no `<` in it.
    let scene = scene.to_string().replace('<', "\\u003c");
    data += &format!("<script type=\"application/json\" id=\"scene\">{scene}</script>\n");
    Ok(page.standalone.replacen(PLACE, &data, 1))
}
