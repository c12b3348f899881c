//! What can be wrong with a mesh, an interface or a reduction.

/// An error of this crate: what, where, how much, what to try.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlexibleError {
    /// A file that cannot be read.
    #[error("{file}: line {line}: {message}")]
    File {
        /// The file as it was named.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what to try.
        message: String,
    },
    /// A mesh that cannot be computed with.
    #[error("{0}")]
    Mesh(String),
    /// An interface that holds nothing.
    #[error("interface \"{name}\" {message}")]
    Interface {
        /// Its name.
        name: String,
        /// What is wrong, and what to try.
        message: String,
    },
    /// A matrix that is not positive definite: the mesh hangs together by too little.
    #[error("{0}")]
    Singular(String),
}

impl FlexibleError {
    /// An error of a file at a line.
    pub fn at(file: &str, line: usize, message: impl Into<String>) -> FlexibleError {
        FlexibleError::File { file: file.to_owned(), line, message: message.into() }
    }
}
