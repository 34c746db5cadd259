//! render (being written)
