//! Tells the crate where cargo puts its shared library, so that a program from a fresh checkout finds it.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    // target/PROFILE/build/PACKAGE-HASH/out
    let profile = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(""));
    println!("cargo:rustc-env=TIPPE_DOORS_FOLDER={}", profile.join("deps").display());
}
