# The newcomer's entry points. `run` and `test` install what the system lacks where they may (Debian/Ubuntu, root or sudo)
# and otherwise say what to install.
.PHONY: setup setup-test run test bench

MAP ?=

setup:
	@sh tests/support/setup.sh run

setup-test:
	@sh tests/support/setup.sh test

# The viewer, on the demo or on MAP=path. Without a display it writes a picture and prints its path.
run: setup
	cargo run --release --bin luxgrid -- $(MAP)

# Every check that a change must pass.
test: setup-test
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo check --no-default-features --target-dir target/headless
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps
	cargo test

bench:
	cargo bench
