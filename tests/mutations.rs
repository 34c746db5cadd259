//! Hostile files of every kind: seeded mutations of sound ones, and every file that a fuzzer or a user found troublesome.
//! None may panic, take long, or take much more memory than its size.
//!
//! `MUTATIONS=1000000 cargo test --release --test mutations -- --nocapture` is the long run; `MUTATIONS=A..B` runs these
//! seeds only. `WRITE_SEEDS=DIR` writes the sound files for the coverage-guided fuzzer.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "fuzz/amplifiers.rs"]
mod amplifiers;
#[path = "support/indices.rs"]
mod indices;
#[path = "support/map_builder.rs"]
mod map_builder;
#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/seeds.rs"]
mod seeds;
#[path = "fuzz/targets.rs"]
mod targets;

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use mutate::{Draws, Structure, mutate};
use peak_alloc::PeakAlloc;
use targets::{TARGETS, Target};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Mutations of an ordinary test run.
const MUTATIONS: u64 = 3_000;
/// Time for one file. Without optimisation and beside other work nothing is promised: there the bound only catches what
/// grows faster than its input.
const TIME_LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
/// Time after which a file counts as endless and the process is ended.
const HANG_LIMIT_MS: u64 = 20_000;
/// Memory beside four times the file.
const MEMORY_BASE: usize = 64 << 20;

/// Figures are of the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where failing inputs go.
fn output() -> PathBuf {
    let folder = root().join("target/mutations");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What one file cost.
struct Cost {
    time: Duration,
    /// Bytes at the highest, beside what was there before.
    peak: usize,
}

impl Cost {
    /// What exceeds its limit.
    fn excess(&self, length: usize) -> Option<String> {
        let memory_limit = 4 * length + MEMORY_BASE;
        if self.time > TIME_LIMIT {
            return Some(format!("took {:?}", self.time));
        }
        let (peak, limit) = (self.peak, memory_limit);
        (peak > limit).then(|| format!("took {peak} bytes of memory for {length}, limit {limit}"))
    }
}

/// Milliseconds since the watch began when the present file was started; 0 between files.
static STARTED_MS: AtomicU64 = AtomicU64::new(0);

/// Ends the process when one file takes forever. Which one: see [`Running`].
fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let clock = Instant::now();
        let now = move || clock.elapsed().as_millis() as u64 + 1;
        let watch = std::thread::Builder::new().name("watch".to_owned());
        let watching = move || {
            let mut since = (0, now());
            loop {
                std::thread::sleep(Duration::from_millis(500));
                let file = STARTED_MS.load(Ordering::Relaxed);
                if file != since.0 {
                    since = (file, now());
                } else if file != 0 && now() - since.1 > HANG_LIMIT_MS {
                    eprintln!(
                        "no end after {HANG_LIMIT_MS} ms; target/mutations/running names the file"
                    );
                    std::process::abort();
                }
            }
        };
        watch.spawn(watching).unwrap();
    });
}

/// The file that says what is being run: all that is left when the process is ended.
struct Running(fs::File);

impl Running {
    fn new() -> Self {
        Self(fs::File::create(output().join("running")).unwrap())
    }

    fn note(&mut self, what: &str) {
        self.0.seek(SeekFrom::Start(0)).unwrap();
        writeln!(self.0, "{what:<60}").unwrap();
    }
}

/// Runs a target; the message of a panic, or the cost.
fn measure(run: fn(&[u8]), bytes: &[u8]) -> Result<Cost, String> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    watch();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    STARTED_MS.store(COUNT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(bytes)));
    let time = start.elapsed();
    STARTED_MS.store(0, Ordering::Relaxed);
    let peak = MEMORY.peak_usage().saturating_sub(before);
    outcome.map(|()| Cost { time, peak }).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.unwrap_or_else(|| "panicked".to_owned())
    })
}

/// Files of the corpus of a target, sorted.
fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = root().join("tests/fuzz/corpus").join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn structure(name: &str) -> Structure {
    match name {
        "bsp" | "sidecar" => Structure::Map,
        "pk3" => Structure::Zip,
        "image" => Structure::Picture,
        _ => Structure::Text,
    }
}

/// Of sixteen mutations, how many go to each target, in the order of [`TARGETS`]: maps hold the most that can be wrong.
const SHARES: [usize; 9] = [6, 1, 1, 2, 1, 1, 1, 1, 2];

/// A target, the files that its mutations start from, and what they cost at most.
struct Report {
    name: &'static str,
    run: fn(&[u8]),
    sources: Vec<Vec<u8>>,
    runs: u64,
    slowest: (Duration, u64),
    /// Share of the memory limit, and seed.
    largest: (f64, u64),
}

impl Report {
    fn new((name, run): Target) -> Self {
        let mut sources = seeds::seeds(name);
        sources.extend(corpus(name).iter().map(|file| fs::read(file).unwrap()));
        Self {
            name,
            run,
            sources,
            runs: 0,
            slowest: (Duration::ZERO, 0),
            largest: (0.0, 0),
        }
    }

    fn input(&self, draws: &mut Draws) -> Vec<u8> {
        let mut bytes = self.sources[draws.below(self.sources.len())].clone();
        let other = &self.sources[draws.below(self.sources.len())];
        mutate(draws, &mut bytes, other, structure(self.name));
        bytes
    }

    /// Runs one mutation; what went wrong.
    fn step(&mut self, seed: u64, draws: &mut Draws) -> Option<String> {
        let bytes = self.input(draws);
        let cost = measure(self.run, &bytes);
        self.runs += 1;
        let failure = match &cost {
            Ok(cost) => {
                if cost.time > self.slowest.0 {
                    self.slowest = (cost.time, seed);
                }
                let share = cost.peak as f64 / (4 * bytes.len() + MEMORY_BASE) as f64;
                if share > self.largest.0 {
                    self.largest = (share, seed);
                }
                cost.excess(bytes.len())
            }
            Err(text) => Some(text.clone()),
        }?;
        let path = output().join(format!("{}-{seed}", self.name));
        fs::write(&path, &bytes).unwrap();
        Some(format!(
            "{} seed {seed}: {failure}; {}",
            self.name,
            path.display()
        ))
    }

    fn print(&self) {
        println!(
            "{:<16} {:>8} runs, slowest {:>7.1} ms (seed {}), most memory {:>5.1} % of its limit (seed {})",
            self.name,
            self.runs,
            self.slowest.0.as_secs_f64() * 1000.0,
            self.slowest.1,
            self.largest.0 * 100.0,
            self.largest.1,
        );
    }
}

/// Seeds to run: `MUTATIONS` is a number or a range.
fn wanted() -> Range<u64> {
    let Ok(text) = std::env::var("MUTATIONS") else {
        return 0..MUTATIONS;
    };
    let (first, end) = text.split_once("..").unwrap_or(("0", &text));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("MUTATIONS={text}"));
    number(first)..number(end)
}

#[test]
fn seeded_mutations_neither_panic_nor_cost_much() {
    let _alone = alone();
    let mut reports = TARGETS.map(Report::new);
    let turns: Vec<usize> = SHARES
        .iter()
        .enumerate()
        .flat_map(|(target, share)| std::iter::repeat_n(target, *share))
        .collect();
    let mut running = Running::new();
    let mut failures = Vec::new();
    for seed in wanted() {
        let mut draws = Draws::new(seed);
        let report = &mut reports[turns[(seed % turns.len() as u64) as usize]];
        running.note(&format!("{} seed {seed}", report.name));
        failures.extend(report.step(seed, &mut draws));
        if failures.len() == 20 {
            break;
        }
    }
    reports.iter().for_each(Report::print);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn files_of_the_corpus_neither_panic_nor_cost_much() {
    let _alone = alone();
    let mut running = Running::new();
    let mut failures = Vec::new();
    for (name, run) in TARGETS {
        let files = corpus(name);
        assert!(!files.is_empty(), "{name} has no corpus");
        for path in files {
            running.note(&path.file_name().unwrap().to_string_lossy());
            let bytes = fs::read(&path).unwrap();
            let failure = match measure(run, &bytes) {
                Ok(cost) => cost.excess(bytes.len()),
                Err(text) => Some(text),
            };
            failures.extend(failure.map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Files made to cost the most. Mutations of small files hardly get there.
#[test]
fn small_files_that_ask_for_much_get_little() {
    let _alone = alone();
    let mut running = Running::new();
    let mut failures = Vec::new();
    for (name, what, bytes) in amplifiers::amplifiers() {
        running.note(what);
        let (_, run) = TARGETS.iter().find(|(target, _)| *target == name).unwrap();
        let cost = measure(*run, &bytes).unwrap_or_else(|text| panic!("{what}: {text}"));
        println!(
            "{what}: {} bytes took {:?} and {} bytes",
            bytes.len(),
            cost.time,
            cost.peak
        );
        let excess = cost.excess(bytes.len());
        failures.extend(excess.map(|text| format!("{what}: {text}")));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Mutations start from files that reach the end of their target, and the corpus stays small.
#[test]
fn seeds_are_sound_and_the_corpus_is_small() {
    let _alone = alone();
    let mut corpus_bytes = 0;
    for (name, run) in TARGETS {
        let seeds = seeds::seeds(name);
        for (number, bytes) in seeds.iter().enumerate() {
            if let Err(text) = measure(run, bytes) {
                panic!("{name} {number}: {text}");
            }
            if let Some(folder) = std::env::var_os("WRITE_SEEDS") {
                let folder = Path::new(&folder).join(name);
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(format!("seed-{number}")), bytes).unwrap();
            }
        }
        let files = corpus(name);
        let sizes = files.iter().map(|file| fs::metadata(file).unwrap().len());
        corpus_bytes += sizes.sum::<u64>();
    }
    for bytes in seeds::seeds("bsp") {
        let bsp = luxgrid::format::bsp::read(&bytes).unwrap();
        assert_eq!(bsp.warnings, []);
    }
    for bytes in seeds::seeds("image") {
        luxgrid::scene::Image::decode("", targets::file("a.tga", &bytes)).unwrap();
    }
    assert!(corpus_bytes < 1 << 20, "{corpus_bytes} bytes of corpus");
}
