pub(crate) fn run(
    _args: &crate::cli::args::ShotArgs,
    _output: &mut crate::cli::output::Output<'_>,
) -> anyhow::Result<crate::cli::error::Exit> {
    anyhow::bail!("x")
}
