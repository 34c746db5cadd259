use crate::scene::types::Vertex;

/// Tessellated patch: `width` × `height` vertices, width fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchGrid {
    /// Vertices in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row.
    pub vertices: Vec<Vertex>,
}

/// Being written.
pub fn tessellate(width: usize, height: usize, controls: &[Vertex]) -> PatchGrid {
    PatchGrid {
        width,
        height,
        vertices: controls.to_vec(),
    }
}
