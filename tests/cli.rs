//! The console tool as its users call it: exit codes, JSON, files.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "support/luxtool.rs"]
mod luxtool;

use std::path::Path;

use luxtool::{Run, luxtool, repository_file};
use serde_json::{Value, json};

const DEMO: &str = "assets/demo/maps/atrium.bsp";

/// Lump numbers that a bake may write.
const OWNED_LUMPS: [u64; 3] = [0, 15, 18];

fn demo_info() -> Value {
    info(&repository_file(DEMO))
}

fn info(map: &str) -> Value {
    let run = luxtool(&["info", map, "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.json()
}

#[test]
fn info_names_the_variant_and_both_grids() {
    let info = demo_info();
    assert_eq!(info["schema"], "luxgrid/info/1");
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["variant"]["version"], 47);
    assert_eq!(info["variant"]["entries"], 19);
    let label = info["variant"]["label"].as_str().unwrap();
    assert!(label.contains("SH commit's variant"), "{label}");
    assert!(!info["variant"]["reasons"].as_array().unwrap().is_empty());
    let (legacy, sh) = (&info["grids"]["legacy"], &info["grids"]["sh"]);
    assert_eq!(legacy["counts"], json!([35, 37, 5]));
    assert_eq!(legacy["origin"], json!([-1088.0, -960.0, 0.0]));
    assert_eq!(legacy["cell_size"], json!([64.0, 64.0, 128.0]));
    assert_eq!(sh["counts"], json!([35, 37, 9]));
    assert_eq!(info["model_0"]["min"], json!([-1088.0, -960.0, -16.0]));
    assert_eq!(info["lumps"][15]["records"], 35 * 37 * 5);
    assert_eq!(info["lumps"][18]["bytes"], 40 + 108 * 35 * 37 * 9);
    let keys = info["worldspawn"].as_array().unwrap();
    assert!(keys.contains(&json!({ "key": "_ambient", "value": "5" })));
    assert_eq!(info["surfaces"]["missing_material"], 0);
}

/// Pages are counted wherever they come from, and what told stands in text and JSON.
#[test]
fn info_counts_lightmap_pages_of_lump_and_files() {
    let pack = repository_file("tests/data/variants/xonotic.pk3/maps/m11_styles.bsp");
    let internal = info(&pack);
    let lightmaps = &internal["lightmaps"];
    let [pages, size] = ["pages", "size"].map(|name| lightmaps[name].as_u64().unwrap());
    assert_eq!(
        (pages, size, &lightmaps["origin"]),
        (4, 128, &json!("internal"))
    );
    assert_eq!(internal["lumps"][14]["records"], 4);
    let reason = lightmaps["deluxe"].as_str().unwrap();
    assert!(reason.contains("unit vectors"), "{reason}");
    // The same pages as files beside a map without lump 14.
    let folder = tempfile::tempdir().unwrap();
    let maps = folder.path().join("game/maps");
    std::fs::create_dir_all(maps.join("m")).unwrap();
    let file = std::fs::File::open(repository_file("tests/data/variants/xonotic.pk3")).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    let mut member = |name: &str| {
        let mut bytes = Vec::new();
        let mut member = zip.by_name(name).unwrap();
        std::io::Read::read_to_end(&mut member, &mut bytes).unwrap();
        bytes
    };
    let mut map = member("maps/m11_styles.bsp");
    map[8 + 14 * 8 + 4..8 + 14 * 8 + 8].fill(0);
    let path = maps.join("m.bsp");
    std::fs::write(&path, map).unwrap();
    for page in 0..4 {
        let name = format!("lm_000{page}.tga");
        let image = member(&format!("maps/m11_styles/{name}"));
        std::fs::write(maps.join("m").join(name), image).unwrap();
    }
    let path = path.to_str().unwrap();
    let external = info(path);
    assert_eq!(external["lightmaps"]["origin"], "external");
    assert_eq!(external["lightmaps"]["pages"], 4);
    assert_eq!(external["lumps"][14]["records"], 0);
    assert_eq!(external["lightmaps"]["deluxe"], lightmaps["deluxe"]);
    let text = luxtool(&["info", path]).out;
    for part in ["4 external pages of 128×128", "deluxe pairs because"] {
        assert!(text.contains(part), "{part} {text}");
    }
    for reason in external["variant"]["reasons"].as_array().unwrap() {
        assert!(text.contains(reason.as_str().unwrap()), "{reason} {text}");
    }
}

#[test]
fn info_counts_palette_and_lattice_apart() {
    let map = repository_file("tests/data/variants/ja.pk3/maps/m02_occluder.bsp");
    let info = info(&map);
    assert_eq!(info["lumps"][15]["records"], 422);
    assert_eq!(info["lumps"][17]["records"], 459);
    assert_eq!(info["lightmaps"]["deluxe"], Value::Null);
    assert_eq!(info["grids"]["sh_container"], Value::Null);
    assert_eq!(demo_info()["grids"]["sh_container"], "v47");
}

#[test]
fn info_counts_the_lights_that_a_bake_starts_from() {
    let lights = &demo_info()["lights"];
    assert_eq!(lights["note"], Value::Null);
    let count = |name: &str| lights[name].as_u64().unwrap();
    // The demo keeps its lights in the BSP (`_keepLights`), so the .map beside it is not asked.
    assert!(
        count("bsp_entities") > 0 && count("map_entities") == 0,
        "{lights}"
    );
    assert!(
        count("points") > 0 && count("spots") > 0 && count("areas") > 0,
        "{lights}"
    );
}

#[test]
fn text_goes_to_the_output_and_names_the_same_things() {
    let run = luxtool(&["info", &repository_file(DEMO)]);
    assert_eq!(run.code, 0, "{}", run.err);
    for part in [
        "SH commit's variant",
        "35×37×9",
        "35×37×5",
        "worldspawn",
        "gridsize = 64 64 128",
    ] {
        assert!(run.out.contains(part), "{part} is not in\n{}", run.out);
    }
    assert_eq!(luxtool(&["info", "demo"]).code, 0);
}

#[test]
fn unreadable_input_and_wrong_usage_exit_with_2_and_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.bsp");
    std::fs::write(&garbage, b"IBSP\x2e\0\0\0garbage").unwrap();
    let garbage = garbage.to_str().unwrap();
    let demo = repository_file(DEMO);
    for args in [
        &["info", garbage][..],
        &["info", "/no/such.bsp"],
        &["sample", garbage, "-pos", "0,0,0"],
        &["bake", garbage, "-o", "/no/such/folder/x.bsp"],
        &["bake", &demo, "-nogrid", "-dry-run"],
        &["bake", &demo, "-o", "/no/such/pak0.pk3/maps/x.bsp"],
        &["bake", &demo, "-lights", "/no/such.map", "-dry-run"],
        &["check", garbage],
        &["info"],
        &[],
    ] {
        let Run { code, out, err } = luxtool(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(
            !err.is_empty() && !err.contains("panicked"),
            "{args:?}: {err}"
        );
    }
    let missing = luxtool(&["info", "/no/such.bsp"]).err;
    assert_eq!(missing.matches("/no/such.bsp").count(), 1, "{missing}");
    assert_eq!(missing.lines().count(), 1, "{missing}");
}

#[test]
fn help_and_version_are_data() {
    for args in [&["--help"][..], &["-version"], &["bake", "-help"]] {
        let run = luxtool(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
        assert!(!run.out.is_empty());
    }
}

#[test]
fn pick_tells_the_surface_at_a_pixel() {
    let demo = repository_file("assets/demo/maps/atrium.bsp");
    let line = ["pick", demo.as_str(), "-view", "0,-740,100,90,-80"];
    let text = luxtool(&line);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(
        text.out.contains("Material: textures/atrium/lamp\n"),
        "{}",
        text.out
    );
    assert!(text.out.contains("q3map_surfacelight 2600"), "{}", text.out);
    let pick = luxtool(&[line.as_slice(), &["-json"]].concat()).json();
    assert_eq!(pick["schema"], "luxgrid/pick/1");
    let picked = &pick["picked"];
    assert_eq!(picked["material"]["file"], "scripts/atrium.shader");
    assert_eq!(
        picked["entity"],
        json!({"number": 0, "classname": "worldspawn"})
    );
    let raw = picked["lightmap"]["raw"][0].as_u64().unwrap();
    let shown = pick["luxel_shown"][0].as_u64().unwrap();
    assert!(shown >= raw && shown <= 255, "{raw} {shown}");
    // Another pixel, another surface; and nothing outside the map.
    let corner = luxtool(&[line.as_slice(), &["-json", "-at", "0,719"]].concat()).json();
    assert_ne!(corner["picked"]["surface"], picked["surface"]);
    let away = ["pick", demo.as_str(), "-view", "9000,0,0,0,0", "-json"];
    assert_eq!(luxtool(&away).json()["picked"], json!(null));
}

#[test]
fn sample_takes_negative_numbers_and_a_profile_for_each_grid() {
    let demo = repository_file(DEMO);
    let run = luxtool(&[
        "sample",
        &demo,
        "-pos",
        "-500,20,40",
        "-normal",
        "-1,0,0",
        "-profile",
        "area",
        "-profile",
        "sh-guide",
        "-json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let sample = run.json();
    assert_eq!(sample["schema"], "luxgrid/sample/1");
    assert_eq!(sample["legacy"]["profile"], "area");
    assert_eq!(sample["sh"]["profile"], "sh-guide");
    assert_eq!(sample["normal"], json!([-1.0, 0.0, 0.0]));
    let weights: f64 = sample["sh"]["corners"]
        .as_array()
        .unwrap()
        .iter()
        .map(|corner| corner["weight"].as_f64().unwrap())
        .sum();
    // Eight products of three factors in f32.
    assert!((weights - 1.0).abs() < 1e-6);
}

#[test]
fn dry_run_prints_the_plan_and_writes_nothing() {
    let run = luxtool(&[
        "bake",
        &repository_file(DEMO),
        "-sh",
        "-gridsh",
        "64",
        "64",
        "64",
        "-dry-run",
        "-json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let report = run.json();
    assert_eq!(report["schema"], "luxgrid/bake/1");
    assert_eq!(report["output"], Value::Null);
    assert_eq!(report["plan"]["sh"]["counts"], json!([35, 37, 9]));
    assert_eq!(report["plan"]["sh"]["bytes"], 40 + 108 * 35 * 37 * 9);
    assert_eq!(report["plan"]["legacy"]["bytes"], 8 * 35 * 37 * 5);
    assert!(report["plan"]["rays_at_most"].as_u64().unwrap() > 0);
}

/// Members of the report that are null for a map whose lights are in the BSP, and where the system says nothing.
const MAY_BE_NULL: [&str; 2] = ["light_file", "peak_memory"];

/// Every member of the report stands in its page, and every member of the page in the report.
fn assert_is_as_documented(report: &Value) {
    let page = std::fs::read_to_string(repository_file("docs/json.md")).unwrap();
    let page = page.split("# The report of a bake").nth(1).unwrap();
    for (part, prefix) in [("plan", "plan."), ("report", "report."), ("", "")] {
        let object = if part.is_empty() {
            report
        } else {
            &report[part]
        };
        for name in object.as_object().unwrap().keys() {
            let named = page.contains(&format!("`{prefix}{name}`"));
            assert!(named, "docs/json.md does not name {prefix}{name}");
        }
        for name in page.split('`').filter_map(|word| word.strip_prefix(prefix)) {
            let is_member = !part.is_empty() && !name.contains(' ');
            assert!(
                !is_member || !object[name].is_null() || MAY_BE_NULL.contains(&name),
                "{prefix}{name}"
            );
        }
    }
    let members = |value: &Value| -> Vec<String> {
        let names = value.as_object().unwrap().keys();
        names.map(|name| format!("`{name}`")).collect()
    };
    let plan = &report["plan"];
    for object in [
        &plan["memory"],
        &plan["lights"],
        &plan["lights"]["culled"],
        &plan["sh"],
    ] {
        for name in members(object) {
            assert!(page.contains(&name), "docs/json.md does not name {name}");
        }
    }
    let stages = report["report"]["stages"].as_array().unwrap();
    let names: Vec<&str> = stages
        .iter()
        .map(|s| s["stage"].as_str().unwrap())
        .collect();
    let last = ["plan", "materials and clusters", "lights", "envelopes"];
    let last = last
        .iter()
        .chain(&["shadow hierarchy", "light grids", "apply", "write"]);
    assert!(
        names.ends_with(&last.copied().collect::<Vec<_>>()),
        "{names:?}"
    );
    let number = |name: &str| report["report"][name].as_f64().unwrap();
    let rate = number("rays") * 1e-6 / number("trace_secs");
    assert!((number("mrays_per_sec") / rate - 1.0).abs() < 1e-3);
    assert!((number("mrays_per_thread_sec") * number("threads") / rate - 1.0).abs() < 1e-3);
    assert!(number("near_pairs") <= number("pairs") && number("near_pairs") > 0.0);
    let memory = &plan["memory"];
    let parts = ["grids", "lights", "hierarchy", "threads", "output"];
    let sum: u64 = parts
        .iter()
        .map(|part| memory[*part].as_u64().unwrap())
        .sum();
    assert_eq!(memory["total"], sum);
}

/// Contents of a lump as `info` places it.
fn lump<'a>(bytes: &'a [u8], lump: &Value) -> &'a [u8] {
    let number = |name: &str| usize::try_from(lump[name].as_u64().unwrap()).unwrap();
    let (offset, length) = (number("offset"), number("bytes"));
    if length == 0 {
        return &[];
    }
    &bytes[offset..offset + length]
}

/// Lines of the entity lump that a bake leaves alone.
fn lasting_keys(bytes: &[u8], info: &Value) -> Vec<String> {
    let text = String::from_utf8_lossy(lump(bytes, &info["lumps"][0])).into_owned();
    let is_noted = |line: &&str| line.contains("gridsize") || line.contains("_q3map2_cmdline");
    let rest = text.lines().filter(|line| !is_noted(line));
    rest.map(str::to_owned).collect()
}

#[test]
fn bake_replaces_the_grids_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (target, report_file) = (path("out.bsp"), path("report.json"));
    let demo = repository_file(DEMO);
    let run = luxtool(&[
        "bake",
        &demo,
        "-o",
        &target,
        "-sh",
        "-gridsize",
        "128",
        "128",
        "128",
        "-gridsh",
        "128",
        "128",
        "128",
        "-fast",
        "-progress",
        "json",
        "-report",
        &report_file,
        "-json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let report = run.json();
    let report_bytes = std::fs::read(&report_file).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&report_bytes).unwrap(),
        report
    );
    assert!(report["report"]["rays"].as_u64().unwrap() > 0);
    assert_is_as_documented(&report);
    let progress: Vec<Value> = run
        .err
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = progress.last().unwrap();
    assert_eq!(last["done"], last["total"], "{last}");

    let (before, after) = (demo_info(), info(&target));
    assert_eq!(
        after["grids"]["legacy"]["cell_size"],
        json!([128.0, 128.0, 128.0])
    );
    assert_eq!(
        after["grids"]["legacy"]["counts"],
        report["plan"]["legacy"]["counts"]
    );
    assert_eq!(
        after["grids"]["sh"]["counts"],
        report["plan"]["sh"]["counts"]
    );
    let (old, new) = (
        std::fs::read(&demo).unwrap(),
        std::fs::read(&target).unwrap(),
    );
    let lumps = before["lumps"]
        .as_array()
        .unwrap()
        .iter()
        .zip(after["lumps"].as_array().unwrap());
    for (was, is) in lumps.filter(|(was, _)| !OWNED_LUMPS.contains(&was["index"].as_u64().unwrap()))
    {
        assert!(
            lump(&old, was) == lump(&new, is),
            "lump {} changed",
            was["name"]
        );
    }
    assert_eq!(lasting_keys(&old, &before), lasting_keys(&new, &after));
    let leftovers = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(
        leftovers, 2,
        "something beside the map and the report was left"
    );
}

#[test]
fn bake_without_sh_drops_the_stale_sh_grid() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.bsp");
    let run = luxtool(&[
        "bake",
        &repository_file(DEMO),
        "-o",
        target.to_str().unwrap(),
        "-gridsize",
        "256",
        "256",
        "256",
        "-notrace",
        "-progress",
        "off",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let after = info(target.to_str().unwrap());
    assert_eq!(after["grids"]["sh"], Value::Null);
    assert_eq!(after["variant"]["version"], 46, "{}", after["variant"]);
}

#[test]
fn failed_bake_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.bsp");
    std::fs::write(&target, b"old").unwrap();
    let garbage = folder.path().join("garbage.bsp");
    std::fs::write(&garbage, b"garbage!").unwrap();
    let run = luxtool(&[
        "bake",
        garbage.to_str().unwrap(),
        "-o",
        target.to_str().unwrap(),
    ]);
    assert_eq!(run.code, 2);
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
}

#[test]
fn the_sh_grid_goes_where_it_is_told_and_is_read_back_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = Vec::new();
    for (container, version, beside) in [
        ("v47", 47, false),
        ("bspx", 46, false),
        ("sidecar", 46, true),
    ] {
        let target = folder.path().join(format!("{container}.bsp"));
        let path = target.to_str().unwrap();
        let baked = luxtool(&[
            "bake",
            "demo",
            "-sh",
            "-gridsh",
            "128",
            "128",
            "128",
            "-o",
            path,
            "--sh-container",
            container,
        ]);
        assert_eq!(baked.code, 0, "{}", baked.err);
        let info = info(path);
        assert_eq!(info["variant"]["version"], version, "{container}: {info}");
        counts.push(info["grids"]["sh"]["counts"].clone());
        assert_eq!(target.with_extension("shgrid").exists(), beside);
    }
    assert_eq!(
        counts,
        [json!([17, 18, 5]), json!([17, 18, 5]), json!([17, 18, 5])]
    );
}

/// A bake of millions of points, interrupted once its progress shows that it runs.
#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_bake_and_leaves_no_file() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("never.bsp");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_luxtool"))
        .args([
            "bake",
            "demo",
            "-sh",
            "-gridsh",
            "8",
            "8",
            "8",
            "-progress",
            "json",
            "-o",
        ])
        .arg(&target)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tool.stderr.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("grid")));
    assert!(begun.is_some(), "no progress was shown");
    let id = tool.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let interrupted = std::time::Instant::now();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(tool.wait().unwrap().code(), Some(5), "{rest:?}");
    assert!(interrupted.elapsed().as_secs_f32() < 2.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Whether the run found no adapter; with `REQUIRE_GPU=1` that is a failure.
fn lacks_adapter(run: &Run) -> bool {
    if run.code != 3 {
        return false;
    }
    assert!(std::env::var_os("REQUIRE_GPU").is_none(), "{}", run.err);
    eprintln!("skipped: no adapter");
    true
}

fn shot(target: &Path, more: &[&str]) -> Run {
    let mut args = vec![
        "shot",
        "demo",
        "-o",
        target.to_str().unwrap(),
        "-size",
        "160x90",
        "-json",
    ];
    args.extend(more);
    luxtool(&args)
}

#[cfg(feature = "viewer")]
#[test]
fn shot_draws_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("shot.png");
    let run = shot(
        &target,
        &["-repeat", "2", "-probes", "sh", "-pin", "0,0,64"],
    );
    if lacks_adapter(&run) {
        return;
    }
    assert_eq!(run.code, 0, "{}", run.err);
    let report = run.json();
    // 90 degrees at 4:3 have this width at 16:9 for the same height.
    assert!((report["fov"].as_f64().unwrap() - 106.26).abs() < 0.01);
    assert_eq!(report["frames"]["count"], 2);
    let image = image::open(&target).unwrap().to_rgb8();
    assert_eq!(image.dimensions(), (160, 90));
    let colours: std::collections::BTreeSet<[u8; 3]> =
        image.pixels().map(|pixel| pixel.0).collect();
    assert!(colours.len() > 50, "{} colours", colours.len());

    let other = folder.path().join("other.png");
    let run = shot(
        &other,
        &["-view", "-440,0,32,-90,-5", "-mode", "fullbright"],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.json()["yaw"], -90.0);
    assert_ne!(image::open(&other).unwrap().to_rgb8(), image);
}

/// A folder with an archive that holds the demo as `maps/little.bsp`.
#[cfg(feature = "viewer")]
fn folder_of_maps() -> tempfile::TempDir {
    use std::io::Write as _;

    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("pak0.pk3")).unwrap();
    let mut archive = zip::ZipWriter::new(file);
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("maps/Little.bsp", options).unwrap();
    let map = std::fs::read(repository_file(DEMO)).unwrap();
    archive.write_all(&map).unwrap();
    archive.finish().unwrap();
    folder
}

#[cfg(feature = "viewer")]
#[test]
fn frames_measures_the_maps_of_a_folder_into_a_document() {
    let folder = folder_of_maps();
    let document = folder.path().join("page.md");
    let (maps, into) = (folder.path().to_str().unwrap(), document.to_str().unwrap());
    std::fs::write(&document, "No place for a table.\n").unwrap();
    let run = luxtool(&["frames", maps, "--only", "none", "--into", into]);
    if lacks_adapter(&run) {
        return;
    }
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("page.md: "), "{}", run.err);
    std::fs::write(&document, "a\n<!-- frames -->\n<!-- /frames -->\nb\n").unwrap();
    let run = luxtool(&["frames", maps, "--into", into]);
    assert_eq!(run.code, 0, "{}", run.err);
    let text = std::fs::read_to_string(&document).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(rows[2].starts_with("| little | "), "{text}");
    let figures: Vec<f32> = rows[2]
        .split('|')
        .filter_map(|cell| cell.trim().parse().ok())
        .collect();
    assert_eq!(figures.len(), 8, "{text}");
    assert!(figures.iter().all(|figure| *figure > 0.0), "{text}");
    assert!(text.starts_with("a\n") && text.ends_with("\nb\n"), "{text}");
}

#[cfg(not(feature = "viewer"))]
#[test]
fn shot_says_that_this_build_has_no_renderer() {
    let run = shot(Path::new("never.png"), &[]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("no renderer"), "{}", run.err);
    assert!(!lacks_adapter(&Run { code: 0, ..run }));
}

#[test]
fn documentation_is_current() {
    let path = repository_file("docs/cli.md");
    let current = luxgrid::cli::reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == current,
        "docs/cli.md is not what the definitions say; UPDATE_DOCS=1 cargo test --test cli writes it"
    );
}
