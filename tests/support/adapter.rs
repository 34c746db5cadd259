use luxgrid::render::Gpu;

/// No adapter is skipped, unless `REQUIRE_GPU=1` says that there must be one.
pub(crate) fn adapter() -> Option<Gpu> {
    match Gpu::headless() {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1") => {
            panic!("{error}")
        }
        Err(_) => {
            println!("skipped: no adapter");
            None
        }
    }
}
