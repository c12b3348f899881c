//! glTF 2.0: triangles of all meshes where the nodes of the scene put them. Metres, y up: turned to z up.

use super::number::{f32_at, short, u32_at};
use super::regular::MESH;
use super::{Beside, Contents, FileError};
use crate::{Mat3, Quat, TriMesh, Vec3};
use serde::Deserialize;
use serde_json::json;

const GLTF: &str = "glTF";
/// Corners, and corners of triangles, that the nodes of a scene may make of its meshes.
const MOST: u64 = 30_000_000;

/// What is read first: other versions hold other things.
#[derive(Deserialize)]
struct Head {
    asset: Option<Asset>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asset {
    version: Option<String>,
    min_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Root {
    #[serde(default)]
    extensions_required: Vec<String>,
    #[serde(default)]
    buffers: Vec<Buffer>,
    #[serde(default)]
    buffer_views: Vec<View>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    meshes: Vec<Parts>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    scenes: Vec<Scene>,
    scene: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    byte_length: u64,
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: u64,
    component_type: u32,
    count: u64,
    #[serde(rename = "type")]
    form: String,
    sparse: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Parts {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

#[derive(Deserialize)]
struct Node {
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

fn wrong<T>(place: impl Into<String>, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::Structure { format: GLTF, place: place.into(), message: message.into() })
}

fn truncated<T>(at: usize, needed: u64, found: usize) -> Result<T, FileError> {
    Err(FileError::Truncated { format: GLTF, at, needed, found: found as u64 })
}

fn json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, FileError> {
    serde_json::from_slice(text).map_err(|e| FileError::Structure {
        format: GLTF,
        place: format!("line {}, column {}", e.line(), e.column()),
        message: e.to_string(),
    })
}

fn check_version(asset: Option<Asset>) -> Result<(), FileError> {
    let Some(asset) = asset else {
        return wrong("asset", "is missing: a glTF file says its version there, \"asset\": { \"version\": \"2.0\" }");
    };
    let Some(version) = asset.version else { return wrong("asset", "has no version") };
    if version.split('.').next() != Some("2") {
        let advice = "only 2.0: convert it with Blender or gltf-pipeline";
        return wrong("asset", format!("version \"{}\" is not read, {advice}", short(&version)));
    }
    match asset.min_version {
        Some(least) if least != "2.0" => {
            wrong("asset", format!("minVersion \"{}\" is not read, only 2.0", short(&least)))
        }
        _ => Ok(()),
    }
}

pub(super) fn read(bytes: &[u8], beside: Beside<'_>) -> Result<Contents, FileError> {
    let (text, blob) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let head: Head = json(text)?;
    check_version(head.asset)?;
    let root: Root = json(text)?;
    if let Some(name) = root.extensions_required.first() {
        return wrong("extensionsRequired", format!("\"{}\" is not read", short(name)));
    }
    let (mut buffers, mut size) = (Vec::new(), 0);
    for (k, buffer) in root.buffers.iter().enumerate() {
        let mut bytes = match &buffer.uri {
            None if k == 0 => blob.map(<[u8]>::to_vec).unwrap_or_default(),
            None => return wrong(format!("buffer {k}"), "has no uri"),
            Some(uri) => match uri.split_once(";base64,") {
                Some((head, data)) if head.starts_with("data:") => match base64(data) {
                    Some(bytes) => bytes,
                    None => return wrong(format!("buffer {k}"), "is no base64"),
                },
                _ if uri.contains("..") || uri.starts_with(['/', '\\']) || uri.contains(':') => {
                    return wrong(format!("buffer {k}"), "lies outside of the folder of the file");
                }
                _ => beside(uri)?,
            },
        };
        if (bytes.len() as u64) < buffer.byte_length {
            let message = format!("{} bytes are announced, but {} are there", buffer.byte_length, bytes.len());
            return wrong(format!("buffer {k}"), message);
        }
        bytes.truncate(buffer.byte_length as usize);
        size += bytes.len() as u64;
        if size > MESH {
            return wrong(format!("buffer {k}"), format!("all buffers together have more than {MESH} bytes"));
        }
        buffers.push(bytes);
    }
    let file = File { root: &root, buffers: &buffers };
    let mut contents = Contents::default();
    let mut seen = vec![false; root.nodes.len()];
    match root.scenes.get(root.scene.unwrap_or(0)) {
        Some(scene) => {
            file.check_count(&scene.nodes)?;
            for &node in &scene.nodes {
                file.add_node(node, &mut seen, &mut contents)?;
            }
        }
        None if root.scene.is_some() => {
            return wrong("scene", format!("there are {} scenes, counted from 0", root.scenes.len()));
        }
        // A library of meshes without a scene: all of them where they are.
        None => {
            for k in 0..root.meshes.len() {
                file.add_mesh(k, &Frame::IDENTITY, &mut contents)?;
            }
        }
    }
    Ok(contents)
}

/// JSON and binary chunk of a GLB file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), FileError> {
    if bytes.len() < 20 {
        return truncated(0, 20, bytes.len());
    }
    if u32_at(bytes, 4) != 2 {
        return wrong("head", format!("version {} is not read, only 2", u32_at(bytes, 4)));
    }
    let total = u32_at(bytes, 8) as u64;
    if total > bytes.len() as u64 {
        return truncated(8, total, bytes.len());
    }
    // What follows is not the file's.
    let bytes = &bytes[..total as usize];
    let (mut at, mut text, mut blob) = (12usize, None, None);
    while at + 8 <= bytes.len() {
        let length = u32_at(bytes, at) as usize;
        let kind = u32_at(bytes, at + 4);
        let Some(chunk) = bytes.get(at + 8..).and_then(|rest| rest.get(..length)) else {
            return truncated(at, length as u64, bytes.len() - at - 8);
        };
        match kind {
            0x4E4F_534A => text = text.or(Some(chunk)),
            0x004E_4942 => blob = blob.or(Some(chunk)),
            _ => {}
        }
        at += 8 + length;
    }
    match text {
        Some(text) => Ok((text, blob)),
        None => wrong("head", "there is no JSON chunk"),
    }
}

/// Linear part and shift of a node in the world.
struct Frame {
    linear: Mat3,
    shift: Vec3,
}

impl Frame {
    const IDENTITY: Frame = Frame { linear: Mat3::IDENTITY, shift: Vec3::ZERO };

    fn of(k: usize, node: &Node) -> Result<Frame, FileError> {
        if let Some(m) = node.matrix {
            let column = |k: usize| Vec3::new(m[4 * k], m[4 * k + 1], m[4 * k + 2]);
            return Ok(Frame { linear: Mat3::from_cols(column(0), column(1), column(2)), shift: column(3) });
        }
        let q = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let q = Quat::from_xyzw(q[0], q[1], q[2], q[3]);
        if !(q.length_squared() > 0.0 && q.length_squared().is_finite()) {
            return wrong(format!("node {k}"), "its rotation has no length; no rotation at all is [0, 0, 0, 1]");
        }
        let R = Mat3::from_quat(q.normalize());
        let scale = Vec3::from_array(node.scale.unwrap_or([1.0; 3]));
        let shift = Vec3::from_array(node.translation.unwrap_or([0.0; 3]));
        Ok(Frame { linear: R * Mat3::from_diagonal(scale), shift })
    }

    fn then(&self, inner: &Frame) -> Frame {
        Frame { linear: self.linear * inner.linear, shift: self.linear * inner.shift + self.shift }
    }
}

struct File<'a> {
    root: &'a Root,
    buffers: &'a [Vec<u8>],
}

impl File<'_> {
    /// A node and all below it, each once: the nodes of a scene form a tree.
    fn add_node(&self, start: usize, seen: &mut [bool], contents: &mut Contents) -> Result<(), FileError> {
        let mut stack = vec![(start, Frame::IDENTITY)];
        while let Some((k, outer)) = stack.pop() {
            let Some(node) = self.root.nodes.get(k) else { return wrong(format!("node {k}"), "is not there") };
            if std::mem::replace(&mut seen[k], true) {
                return wrong(format!("node {k}"), "has two parents");
            }
            let frame = outer.then(&Frame::of(k, node)?);
            if let Some(mesh) = node.mesh {
                self.add_mesh(mesh, &frame, contents)?;
            }
            for &child in node.children.iter().rev() {
                stack.push((child, Frame { linear: frame.linear, shift: frame.shift }));
            }
        }
        Ok(())
    }

    fn add_mesh(&self, k: usize, frame: &Frame, contents: &mut Contents) -> Result<(), FileError> {
        let Some(mesh) = self.root.meshes.get(k) else { return wrong(format!("mesh {k}"), "is not there") };
        for primitive in &mesh.primitives {
            let mode = primitive.mode.unwrap_or(4);
            let (Some(position), 4..=6) = (primitive.attributes.position, mode) else {
                *contents.skipped.entry("points or lines".into()).or_default() += 1;
                continue;
            };
            let corners = self.positions(position)?;
            let order = match primitive.indices {
                Some(indices) => self.indices(indices)?,
                None => (0..corners.len() as u32).collect(),
            };
            if let Some(i) = order.iter().find(|i| **i as usize >= corners.len()) {
                return wrong(format!("mesh {k}"), format!("corner {i} of {}", corners.len()));
            }
            let flips = frame.linear.determinant() < 0.0;
            let base = contents.surface.vertices.len() as u32;
            for p in corners {
                let q = frame.linear * p + frame.shift;
                contents.surface.vertices.push(Vec3::new(q.x, -q.z, q.y));
            }
            let n = order.len();
            if mode == 4 && n % 3 != 0 {
                return wrong(format!("mesh {k}"), format!("{n} corners in a row are no whole number of triangles"));
            }
            let triples: Vec<[u32; 3]> = match mode {
                4 => order.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
                5 => (2..n)
                    .map(|i| if i % 2 == 0 { [i - 2, i - 1, i] } else { [i - 1, i - 2, i] })
                    .map(|t| t.map(|i| order[i]))
                    .collect(),
                _ => (2..n).map(|i| [order[0], order[i - 1], order[i]]).collect(),
            };
            contents.surface.triangles.extend(
                triples.into_iter().map(|[a, b, c]| {
                    if flips { [a + base, c + base, b + base] } else { [a + base, b + base, c + base] }
                }),
            );
        }
        Ok(())
    }

    /// Refuses what would become too many corners: a mesh stands in a file once, and nodes may show it any number of times.
    fn check_count(&self, roots: &[usize]) -> Result<(), FileError> {
        // a count that no buffer holds is told where it is read, before memory is taken for it
        let bytes: u64 = self.buffers.iter().map(|buffer| buffer.len() as u64).sum();
        let count = |k: usize| {
            let there = self.root.accessors.get(k).map(|accessor| accessor.count);
            there.filter(|count| *count <= bytes).unwrap_or(0)
        };
        let corners = |part: &Primitive| {
            let position = part.attributes.position.map_or(0, count);
            position.max(part.indices.map_or(0, count))
        };
        let size = |mesh: &Parts| mesh.primitives.iter().map(corners).fold(0, u64::saturating_add);
        let sizes: Vec<u64> = self.root.meshes.iter().map(size).collect();
        let (mut stack, mut seen, mut all) = (roots.to_vec(), vec![false; self.root.nodes.len()], 0_u64);
        while let Some(k) = stack.pop() {
            // what is not there, or there twice, is told where it is read
            let Some(node) = self.root.nodes.get(k).filter(|_| !seen[k]) else { continue };
            seen[k] = true;
            let own = node.mesh.and_then(|mesh| sizes.get(mesh)).copied().unwrap_or(0);
            all = all.saturating_add(own);
            stack.extend(&node.children);
        }
        if all > MOST {
            return wrong("scene", format!("its nodes make {all} corners of the meshes; {MOST} are possible"));
        }
        Ok(())
    }

    /// Bytes of an accessor, the distance of its elements and their number, all within the buffer.
    fn elements(&self, k: usize, form: &str, size: u64) -> Result<(&[u8], usize, usize), FileError> {
        let place = format!("accessor {k}");
        let Some(accessor) = self.root.accessors.get(k) else { return wrong(place, "is not there") };
        if accessor.form != form || accessor.sparse.is_some() {
            return wrong(place, format!("is not a plain {form}"));
        }
        let view = accessor.buffer_view.and_then(|v| self.root.buffer_views.get(v));
        let Some(view) = view else { return wrong(place, "has no buffer view") };
        let Some(buffer) = self.buffers.get(view.buffer) else { return wrong(place, "has no buffer") };
        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            return wrong(place, format!("elements of {size} bytes stand {stride} apart"));
        }
        let needed = match accessor.count {
            0 => Some(0),
            n => (n - 1).checked_mul(stride).and_then(|x| x.checked_add(size)),
        };
        let needed = needed.and_then(|x| x.checked_add(accessor.byte_offset));
        let end = view.byte_offset.checked_add(view.byte_length);
        let View { byte_offset, byte_length, .. } = view;
        let Some(end) = end.filter(|end| *end <= buffer.len() as u64) else {
            let there = buffer.len();
            let message = format!("its view has {byte_length} bytes from byte {byte_offset} on of a buffer of {there}");
            return wrong(place, message);
        };
        if needed.is_none_or(|needed| needed > *byte_length) {
            let count = accessor.count;
            let message =
                format!("{count} elements of {size} bytes are announced, but its view has {byte_length} bytes");
            return wrong(place, message);
        }
        let from = (byte_offset + accessor.byte_offset) as usize;
        Ok((&buffer[from..end as usize], stride as usize, accessor.count as usize))
    }

    fn positions(&self, k: usize) -> Result<Vec<Vec3>, FileError> {
        let (bytes, stride, count) = self.elements(k, "VEC3", 12)?;
        if self.root.accessors[k].component_type != 5126 {
            return wrong(format!("accessor {k}"), "positions are not of single precision");
        }
        Ok((0..count)
            .map(|i| {
                let at = i * stride;
                Vec3::new(f32_at(bytes, at), f32_at(bytes, at + 4), f32_at(bytes, at + 8))
            })
            .collect())
    }

    fn indices(&self, k: usize) -> Result<Vec<u32>, FileError> {
        let size = match self.root.accessors.get(k).map(|a| a.component_type) {
            Some(5121) => 1,
            Some(5123) => 2,
            Some(5125) => 4,
            _ => return wrong(format!("accessor {k}"), "indices are whole numbers of 1, 2 or 4 bytes"),
        };
        let (bytes, stride, count) = self.elements(k, "SCALAR", size)?;
        Ok((0..count)
            .map(|i| match &bytes[i * stride..i * stride + size as usize] {
                [a] => *a as u32,
                [a, b] => u16::from_le_bytes([*a, *b]) as u32,
                _ => u32_at(bytes, i * stride),
            })
            .collect())
    }
}

/// Bytes of a base64 text; padding may be missing.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | six as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

pub(super) fn write(surface: &TriMesh) -> Vec<u8> {
    // y up again.
    let corner = |v: &Vec3| [v.x as f32, v.z as f32, -v.y as f32];
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    let mut blob = Vec::new();
    for v in &surface.vertices {
        for (k, x) in corner(v).into_iter().enumerate() {
            (low[k], high[k]) = (low[k].min(x), high[k].max(x));
            blob.extend(x.to_le_bytes());
        }
    }
    let positions = blob.len();
    surface.triangles.iter().flatten().for_each(|i| blob.extend(i.to_le_bytes()));
    if surface.vertices.is_empty() {
        (low, high) = ([0.0; 3], [0.0; 3]);
    }
    let root = json!({
        "asset": { "version": "2.0", "generator": "Tippe" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": surface.vertices.len(), "type": "VEC3", "min": low, "max": high },
            { "bufferView": 1, "componentType": 5125, "count": 3 * surface.triangles.len(), "type": "SCALAR" }
        ],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": positions, "target": 34962 },
            { "buffer": 0, "byteOffset": positions, "byteLength": blob.len() - positions, "target": 34963 }
        ],
        "buffers": [{ "byteLength": blob.len() }]
    });
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + blob.len();
    let mut out = b"glTF".to_vec();
    for x in [2, total as u32, text.len() as u32, 0x4E4F_534A] {
        out.extend(x.to_le_bytes());
    }
    out.extend(text);
    for x in [blob.len() as u32, 0x004E_4942] {
        out.extend(x.to_le_bytes());
    }
    out.extend(blob);
    out
}
