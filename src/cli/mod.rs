//! The console tool: arguments and headless subcommands.
