//! ui (being written)
