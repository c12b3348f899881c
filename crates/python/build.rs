//! Links as a module that an interpreter loads: no library of Python is needed to build it.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
