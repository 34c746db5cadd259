//! app (being written)
