use glam::{Vec2, Vec3};

use crate::format::entities::leading_number;
use crate::format::material_script::lexer::Lexer;
use crate::format::material_script::types::{
    AlphaFunc, AlphaGen, BlendFactor, Cull, Deform, MaterialDef, MaterialScript, RgbGen, SkyParms,
    StageDef, StageMap, TcGen, TcMod, Wave, WaveFunction,
};

/// Warnings kept for one script at most.
const WARNING_LIMIT: usize = 200;

/// Parses a script. Never fails; what was not understood is in the warnings.
pub fn parse(bytes: &[u8]) -> MaterialScript {
    let mut script = MaterialScript::default();
    let mut lexer = Lexer::new(bytes);
    while let Some(name) = lexer.word() {
        let line = lexer.line();
        if name.bytes().all(|b| b == 0) {
            continue;
        }
        match lexer.word() {
            Some(word) if word == "{" => {
                let mut material = MaterialDef {
                    name: normalise_name(&name),
                    line,
                    ..MaterialDef::default()
                };
                let body = read_body(&mut lexer, &mut material, &mut script.warnings);
                keep_limits(&mut material, &mut script.warnings);
                if body.is_none() {
                    warn(
                        &mut script.warnings,
                        lexer.line(),
                        format!("`{name}` is not closed"),
                    );
                }
                script.materials.push(material);
            }
            _ => {
                warn(
                    &mut script.warnings,
                    line,
                    format!("expected “{{” after `{name}`; the rest is not read"),
                );
                break;
            }
        }
    }
    script
}

/// The name under which materials are looked up: lower case, forward slashes, without an image extension.
pub fn normalise_name(name: &str) -> String {
    let name = name.replace('\\', "/").to_ascii_lowercase();
    let stem = [".tga", ".jpg", ".jpeg", ".png"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension));
    stem.unwrap_or(&name).to_owned()
}

fn warn(warnings: &mut Vec<(usize, String)>, line: usize, text: String) {
    if warnings.len() < WARNING_LIMIT {
        warnings.push((line, text));
    }
}

/// Passes, changes of coordinates in one, deformations and pictures of an animation that the engine takes at most.
const STAGE_LIMIT: usize = 8;
const TC_MOD_LIMIT: usize = 4;
const DEFORM_LIMIT: usize = 3;
const FRAME_LIMIT: usize = 8;

/// Leaves out deformations and pictures beyond the engine's limits, and says what the engine would refuse.
fn keep_limits(material: &mut MaterialDef, warnings: &mut Vec<(usize, String)>) {
    let (line, name) = (material.line, material.name.clone());
    let mut over = |what: &str, count: usize, limit: usize| {
        if count > limit {
            let text = format!("`{name}`: {count} {what}, the engine takes {limit}");
            warn(warnings, line, text);
        }
    };
    over("stages", material.stages.len(), STAGE_LIMIT);
    over("deformVertexes", material.deforms.len(), DEFORM_LIMIT);
    material.deforms.truncate(DEFORM_LIMIT);
    for stage in &mut material.stages {
        over("tcMods in a stage", stage.tc_mods.len(), TC_MOD_LIMIT);
        if let StageMap::Animated(_, frames) = &mut stage.map {
            over("pictures in an animMap", frames.len(), FRAME_LIMIT);
            frames.truncate(FRAME_LIMIT);
        }
    }
}

/// `None` when the text ends before the closing brace.
fn read_body(
    lexer: &mut Lexer<'_>,
    material: &mut MaterialDef,
    warnings: &mut Vec<(usize, String)>,
) -> Option<()> {
    loop {
        let word = lexer.word()?;
        let line = lexer.line();
        match word.as_str() {
            "}" => return Some(()),
            "{" => {
                let stage = read_stage(lexer, &material.name, warnings)?;
                note_light_image(material, &stage);
                material.stages.push(stage);
            }
            _ => {
                let keyword = word.to_ascii_lowercase();
                let words = lexer.rest_of_line();
                if !read_global(material, &keyword, &words) {
                    warn(
                        warnings,
                        line,
                        format!("`{}`: unknown keyword `{word}`", material.name),
                    );
                }
            }
        }
    }
}

/// The first stage image is the light image while nothing better is known.
fn note_light_image(material: &mut MaterialDef, stage: &StageDef) {
    let image = match &stage.map {
        StageMap::Image(name) => Some(name),
        StageMap::Animated(_, names) => names.first(),
        _ => None,
    };
    let light = &mut material.light;
    let known = light.editor_image.is_some()
        || light.light_image.is_some()
        || light.implicit_image.is_some();
    if let (Some(name), false) = (image, known) {
        light.light_image = Some(name.clone());
    }
}

fn read_global(material: &mut MaterialDef, keyword: &str, words: &[String]) -> bool {
    if material.light.read(keyword, words) {
        if keyword.starts_with("q3map_sun") || keyword == "sun" || keyword == "q3map_skylight" {
            material.surface_parms.push("sky".to_owned());
        }
        return true;
    }
    let text = |at: usize| {
        words
            .get(at)
            .map(|word| word.to_ascii_lowercase())
            .unwrap_or_default()
    };
    match keyword {
        "surfaceparm" => material.surface_parms.push(text(0)),
        "q3map_onlyvertexlighting" => material.surface_parms.push("pointlight".to_owned()),
        "cull" => {
            material.cull = match text(0).as_str() {
                "none" | "twosided" | "disable" => Cull::Nothing,
                "back" | "backside" | "backsided" => Cull::FrontFaces,
                _ => Cull::BackFaces,
            }
        }
        "sort" => material.sort = sort_value(&text(0)),
        "portal" => material.sort = Some(1.0),
        "polygonoffset" => material.polygon_offset = true,
        "nomipmaps" => material.no_mipmaps = true,
        "skyparms" => read_sky(material, words),
        "fogparms" => {
            let numbers: Vec<f32> = words
                .iter()
                .filter_map(|word| leading_number(word.trim_matches(['(', ')'])))
                .collect();
            if let [r, g, b, depth, ..] = numbers.as_slice() {
                material.fog = Some((Vec3::new(*r, *g, *b), depth.max(1.0)));
            }
        }
        "deformvertexes" => return read_deform(material, words),
        "nopicmip" | "entitymergable" | "tesssize" | "light" | "light1" | "clamptime"
        | "cloudparms" | "foggen" => {}
        _ if keyword.starts_with("qer") => {}
        _ => match keyword.strip_prefix("q3map_") {
            Some(parm) => material.surface_parms.push(parm.to_owned()),
            None => return false,
        },
    }
    true
}

fn sort_value(word: &str) -> Option<f32> {
    let named = [
        ("portal", 1.0),
        ("sky", 2.0),
        ("opaque", 3.0),
        ("decal", 4.0),
        ("seethrough", 5.0),
        ("banner", 6.0),
        ("underwater", 8.0),
        ("additive", 10.0),
        ("nearest", 16.0),
    ];
    let by_name = named
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value);
    by_name.or_else(|| leading_number(word))
}

fn read_sky(material: &mut MaterialDef, words: &[String]) {
    let base = |at: usize| {
        words
            .get(at)
            .filter(|word| *word != "-" && !word.is_empty())
            .cloned()
    };
    let outer = base(0).filter(|word| !word.eq_ignore_ascii_case("full"));
    let light = &mut material.light;
    if let (Some(base), None) = (&outer, &light.light_image) {
        light.light_image = Some(format!("{base}_up"));
    }
    let height = words
        .get(1)
        .and_then(|word| leading_number(word))
        .filter(|height| *height > 0.0);
    material.sky = Some(SkyParms {
        outer,
        cloud_height: height.unwrap_or(512.0),
        inner: base(2),
    });
}

/// Texts and shadows of the game, `text0` to `text7` and `projectionShadow`, are known and change no map.
fn read_deform(material: &mut MaterialDef, words: &[String]) -> bool {
    let number = |at: usize| {
        words
            .get(at)
            .and_then(|word| leading_number(word))
            .unwrap_or(0.0)
    };
    let deform = match words
        .first()
        .map(|word| word.to_ascii_lowercase())
        .as_deref()
    {
        Some("wave") => {
            let divisor = number(1);
            let spread = if divisor.abs() > 0.0 {
                1.0 / divisor
            } else {
                100.0
            };
            Some(Deform::Wave(
                spread,
                read_wave(words.get(2..).unwrap_or_default()),
            ))
        }
        Some("normal") => Some(Deform::Normal(number(1), number(2))),
        Some("bulge") => Some(Deform::Bulge(number(1), number(2), number(3))),
        Some("move") => Some(Deform::Move(
            Vec3::new(number(1), number(2), number(3)),
            read_wave(words.get(4..).unwrap_or_default()),
        )),
        Some("autosprite") => Some(Deform::AutoSprite),
        Some("autosprite2") => Some(Deform::AutoSprite2),
        Some(word) if word == "projectionshadow" || word.starts_with("text") => None,
        _ => return false,
    };
    if matches!(deform, Some(Deform::AutoSprite | Deform::AutoSprite2)) {
        material.light.autosprite = true;
    }
    material.deforms.extend(deform);
    true
}

fn read_wave(words: &[String]) -> Wave {
    let number = |at: usize| {
        words
            .get(at)
            .and_then(|word| leading_number(word))
            .unwrap_or(0.0)
    };
    let function = match words
        .first()
        .map(|word| word.to_ascii_lowercase())
        .as_deref()
    {
        Some("triangle") => WaveFunction::Triangle,
        Some("square") => WaveFunction::Square,
        Some("sawtooth") => WaveFunction::Sawtooth,
        Some("inversesawtooth") => WaveFunction::InverseSawtooth,
        Some("noise") => WaveFunction::Noise,
        _ => WaveFunction::Sine,
    };
    Wave {
        function,
        base: number(1),
        amplitude: number(2),
        phase: number(3),
        frequency: number(4),
    }
}

fn read_stage(
    lexer: &mut Lexer<'_>,
    material: &str,
    warnings: &mut Vec<(usize, String)>,
) -> Option<StageDef> {
    let mut stage = StageDef::default();
    loop {
        let word = lexer.word()?;
        if word == "}" {
            return Some(stage);
        }
        let line = lexer.line();
        let mut words = vec![word];
        words.extend(lexer.rest_of_line());
        for words in directives_of(&words) {
            let Some((word, parameters)) = words.split_first() else {
                continue;
            };
            if !read_stage_keyword(&mut stage, &word.to_ascii_lowercase(), parameters) {
                let text = format!("`{material}`: unknown stage keyword `{}`", words.join(" "));
                warn(warnings, line, text);
            }
        }
    }
}

/// Stage keywords that may follow another one on its line.
const FOLLOWING: [&str; 14] = [
    "map",
    "clampmap",
    "animmap",
    "clampanimmap",
    "videomap",
    "blendfunc",
    "alphafunc",
    "depthwrite",
    "depthfunc",
    "detail",
    "rgbgen",
    "alphagen",
    "tcgen",
    "tcmod",
];

/// A line's directives. Like the engine we take a keyword behind the parameters of another one for its own directive; what
/// follows `map` and the like is a name whatever it is.
fn directives_of(words: &[String]) -> impl Iterator<Item = &[String]> {
    let is_keyword = |word: &String| FOLLOWING.contains(&word.to_ascii_lowercase().as_str());
    let takes_name = |word: &String| word.to_ascii_lowercase().ends_with("map");
    let mut is_name = false;
    words.chunk_by(move |word, next| {
        // Whether the next word is a name; a word that is one itself takes none.
        is_name = takes_name(word) && !is_name;
        is_name || !is_keyword(next)
    })
}

fn read_stage_keyword(stage: &mut StageDef, keyword: &str, words: &[String]) -> bool {
    let text = |at: usize| {
        words
            .get(at)
            .map(|word| word.to_ascii_lowercase())
            .unwrap_or_default()
    };
    match keyword {
        "map" | "mapcomp" | "mapnocomp" => stage.map = stage_map(words),
        "clampmap" => {
            stage.map = stage_map(words);
            stage.clamp = true;
        }
        "animmap" | "clampanimmap" => {
            let hz = words
                .first()
                .and_then(|word| leading_number(word))
                .unwrap_or(0.0);
            stage.map = StageMap::Animated(hz, words.iter().skip(1).cloned().collect());
            stage.clamp = keyword == "clampanimmap";
        }
        "videomap" => stage.map = StageMap::Video,
        "blendfunc" => stage.blend = blend(&text(0), &text(1)),
        "alphafunc" => {
            stage.alpha_func = match text(0).as_str() {
                "gt0" => Some(AlphaFunc::Greater0),
                "lt128" => Some(AlphaFunc::Less128),
                "ge128" => Some(AlphaFunc::GreaterEqual128),
                _ => return false,
            }
        }
        "depthwrite" => stage.depth_write = true,
        "depthfunc" => stage.depth_equal = text(0) == "equal",
        "detail" => stage.detail = true,
        "rgbgen" => return read_rgb_gen(stage, &text(0), words),
        "alphagen" => return read_alpha_gen(stage, &text(0), words),
        "tcgen" | "texgen" => return read_tc_gen(stage, &text(0), words),
        "tcmod" => return read_tc_mod(stage, &text(0), words),
        _ => return false,
    }
    true
}

fn stage_map(words: &[String]) -> StageMap {
    match words.first() {
        None => StageMap::None,
        Some(word) if word.eq_ignore_ascii_case("$lightmap") => StageMap::Lightmap,
        Some(word)
            if word.eq_ignore_ascii_case("$whiteimage") || word.eq_ignore_ascii_case("*white") =>
        {
            StageMap::White
        }
        Some(word) => StageMap::Image(word.clone()),
    }
}

fn blend(first: &str, second: &str) -> Option<(BlendFactor, BlendFactor)> {
    use BlendFactor as F;
    let factors = match first {
        "add" => (F::One, F::One),
        "filter" => (F::DstColor, F::Zero),
        "blend" => (F::SrcAlpha, F::OneMinusSrcAlpha),
        _ => (blend_factor(first), blend_factor(second)),
    };
    // ONE ZERO replaces: the engine turns blending off.
    (factors != (F::One, F::Zero)).then_some(factors)
}

fn blend_factor(word: &str) -> BlendFactor {
    use BlendFactor as F;
    match word.strip_prefix("gl_").unwrap_or(word) {
        "zero" => F::Zero,
        "src_color" => F::SrcColor,
        "one_minus_src_color" => F::OneMinusSrcColor,
        "dst_color" => F::DstColor,
        "one_minus_dst_color" => F::OneMinusDstColor,
        "src_alpha" => F::SrcAlpha,
        "one_minus_src_alpha" => F::OneMinusSrcAlpha,
        "dst_alpha" => F::DstAlpha,
        "one_minus_dst_alpha" => F::OneMinusDstAlpha,
        "src_alpha_saturate" => F::SrcAlphaSaturate,
        _ => F::One,
    }
}

fn read_rgb_gen(stage: &mut StageDef, kind: &str, words: &[String]) -> bool {
    stage.rgb_gen = Some(match kind {
        "identity" => RgbGen::Identity,
        "identitylighting" => RgbGen::IdentityLighting,
        "vertex" => {
            if stage.alpha_gen == AlphaGen::Identity {
                stage.alpha_gen = AlphaGen::Vertex;
            }
            RgbGen::Vertex
        }
        "exactvertex" => RgbGen::ExactVertex,
        "oneminusvertex" => RgbGen::OneMinusVertex,
        "entity" => RgbGen::Entity,
        "oneminusentity" => RgbGen::OneMinusEntity,
        "wave" => RgbGen::Wave(read_wave(words.get(1..).unwrap_or_default())),
        "const" | "constant" => {
            RgbGen::Const(parenthesised(words.get(1..).unwrap_or_default()).unwrap_or(Vec3::ONE))
        }
        "lightingdiffuse" => RgbGen::LightingDiffuse,
        _ => return false,
    });
    true
}

/// `( x y z )`, with or without spaces around the parentheses.
fn parenthesised(words: &[String]) -> Option<Vec3> {
    let numbers: Vec<f32> = words
        .iter()
        .filter_map(|word| leading_number(word.trim_matches(['(', ')'])))
        .take(3)
        .collect();
    match numbers.as_slice() {
        [x, y, z] => Some(Vec3::new(*x, *y, *z)),
        _ => None,
    }
}

fn read_alpha_gen(stage: &mut StageDef, kind: &str, words: &[String]) -> bool {
    let number = |at: usize| words.get(at).and_then(|word| leading_number(word));
    stage.alpha_gen = match kind {
        "identity" => AlphaGen::Identity,
        "const" | "constant" => AlphaGen::Const(number(1).unwrap_or(1.0)),
        "vertex" => AlphaGen::Vertex,
        "oneminusvertex" => AlphaGen::OneMinusVertex,
        "entity" => AlphaGen::Entity,
        "oneminusentity" => AlphaGen::OneMinusEntity,
        "wave" => AlphaGen::Wave(read_wave(words.get(1..).unwrap_or_default())),
        "lightingspecular" => AlphaGen::LightingSpecular,
        "portal" => AlphaGen::Portal(number(1).unwrap_or(256.0)),
        _ => return false,
    };
    true
}

fn read_tc_gen(stage: &mut StageDef, kind: &str, words: &[String]) -> bool {
    stage.tc_gen = Some(match kind {
        "base" | "texture" => TcGen::Base,
        "lightmap" => TcGen::Lightmap,
        "environment" => TcGen::Environment,
        "vector" => {
            let numbers: Vec<f32> = words
                .iter()
                .filter_map(|word| leading_number(word.trim_matches(['(', ')'])))
                .collect();
            match numbers.as_slice() {
                [a, b, c, d, e, f, ..] => {
                    TcGen::Vector(Vec3::new(*a, *b, *c), Vec3::new(*d, *e, *f))
                }
                _ => return false,
            }
        }
        _ => return false,
    });
    true
}

fn read_tc_mod(stage: &mut StageDef, kind: &str, words: &[String]) -> bool {
    let number = |at: usize| {
        words
            .get(at)
            .and_then(|word| leading_number(word))
            .unwrap_or(0.0)
    };
    let pair = |at: usize| Vec2::new(number(at), number(at + 1));
    stage.tc_mods.push(match kind {
        "scale" => TcMod::Scale(pair(1)),
        "scroll" => TcMod::Scroll(pair(1)),
        "rotate" => TcMod::Rotate(number(1)),
        "stretch" => TcMod::Stretch(read_wave(words.get(1..).unwrap_or_default())),
        "turb" => {
            // `turb base amplitude phase frequency`; some scripts name a function first, as the other waves do.
            let start = usize::from(
                words
                    .get(1)
                    .is_some_and(|word| leading_number(word).is_none()),
            );
            TcMod::Turbulence(Wave {
                function: WaveFunction::Sine,
                base: number(start + 1),
                amplitude: number(start + 2),
                phase: number(start + 3),
                frequency: number(start + 4),
            })
        }
        "transform" => TcMod::Transform([number(1), number(2), number(3), number(4)], pair(5)),
        "entitytranslate" => TcMod::EntityTranslate,
        _ => return false,
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grate_reads_right() {
        let text = b"// comment\ntextures/Base\\grate.tga\n{\n\tsurfaceparm trans\n\tcull none\n\t{\n\t\tmap textures/a.tga // note\n\t\talphaFunc GE128\n\t\tdepthWrite\n\t}\n\t{\n\t\tmap $lightmap\n\t\tblendFunc filter\n\t\tdepthFunc equal\n\t\trgbGen wave sin 0.5 0.25 0 1\n\t\ttcMod scale 2 3\n\t}\n}\n";
        let script = parse(text);
        assert!(script.warnings.is_empty(), "{:?}", script.warnings);
        let material = &script.materials[0];
        assert_eq!(material.name, "textures/base/grate");
        assert_eq!(material.cull, Cull::Nothing);
        assert!(material.has_parm("trans"));
        assert_eq!(
            material.stages[0].alpha_func,
            Some(AlphaFunc::GreaterEqual128)
        );
        assert_eq!(material.stages[1].map, StageMap::Lightmap);
        assert_eq!(
            material.stages[1].blend,
            Some((BlendFactor::DstColor, BlendFactor::Zero))
        );
        assert!(material.stages[1].depth_equal);
        assert_eq!(
            material.stages[1].tc_mods,
            [TcMod::Scale(Vec2::new(2.0, 3.0))]
        );
        assert_eq!(
            material.light.light_image.as_deref(),
            Some("textures/a.tga")
        );
    }

    #[test]
    fn light_directives_and_sky() {
        let text = b"s { qer_editorimage e.jpg q3map_x\n q3map_lightRGB 0.5 1 2\n q3map_skylight 380 4\n q3map_sunExt 1 1 1 190 40 62 1.5 8\n skyparms - 512 - \n { map clouds.tga } }";
        let script = parse(text);
        let material = &script.materials[0];
        assert_eq!(material.light.sky_lights[0].iterations, 4);
        assert!((material.light.suns[0].deviance_degrees - 1.5).abs() < 1e-6);
        assert_eq!(material.light.suns[0].samples, 8);
        assert_eq!(
            material.sky.as_ref().map(|sky| sky.cloud_height),
            Some(512.0)
        );
        assert!(material.has_parm("sky"));
        assert_eq!(
            material.light.light_image, None,
            "the editor image is known first"
        );
    }

    #[test]
    fn several_directives_stand_on_one_line() {
        let script =
            parse(b"a { { map map blendFunc add rgbGen const ( 0 1 0 ) tcMod scale 2 2 detail } }");
        assert!(script.warnings.is_empty(), "{:?}", script.warnings);
        let stage = &script.materials[0].stages[0];
        assert_eq!(stage.map, StageMap::Image("map".to_owned()));
        assert_eq!(stage.blend, Some((BlendFactor::One, BlendFactor::One)));
        assert_eq!(stage.rgb_gen, Some(RgbGen::Const(Vec3::Y)));
        assert_eq!(stage.tc_mods, [TcMod::Scale(Vec2::splat(2.0))]);
        assert!(stage.detail);
    }

    /// Section 5.4 of the rendering specification; a word that no list has leaves the order to the stages.
    #[test]
    fn sort_values_have_names_and_numbers() {
        for (word, expected) in [
            ("portal", Some(1.0)),
            ("sky", Some(2.0)),
            ("opaque", Some(3.0)),
            ("decal", Some(4.0)),
            ("seeThrough", Some(5.0)),
            ("banner", Some(6.0)),
            ("underwater", Some(8.0)),
            ("additive", Some(10.0)),
            ("nearest", Some(16.0)),
            ("6.5", Some(6.5)),
            ("often", None),
        ] {
            let script = parse(format!("a {{ sort {word}\n }}").as_bytes());
            assert_eq!(script.materials[0].sort, expected, "{word}");
        }
        assert_eq!(parse(b"a { portal\n }").materials[0].sort, Some(1.0));
    }

    #[test]
    fn deformations_of_the_game_are_known_and_others_told() {
        let script = parse(b"a { deformVertexes text3\n deformVertexes projectionShadow\n }");
        assert!(script.warnings.is_empty() && script.materials[0].deforms.is_empty());
        let script = parse(b"a { deformVertexes wobble 1\n }");
        assert_eq!(script.warnings.len(), 1);
    }

    #[test]
    fn what_is_over_the_engines_limits_is_told_and_cut() {
        let script = parse(
            b"\na { deformVertexes autosprite\n deformVertexes autosprite\n deformVertexes autosprite\n deformVertexes autosprite\n { animMap 5 1 2 3 4 5 6 7 8 9\n tcMod rotate 1\n tcMod rotate 1\n tcMod rotate 1\n tcMod rotate 1\n tcMod rotate 1 } }",
        );
        assert_eq!(script.warnings.len(), 3, "{:?}", script.warnings);
        assert!(script.warnings.iter().all(|(line, _)| *line == 2));
        assert_eq!(script.materials[0].deforms.len(), 3);
        let frames = match &script.materials[0].stages[0].map {
            StageMap::Animated(_, frames) => frames.len(),
            _ => 0,
        };
        assert_eq!(frames, 8);
    }

    #[test]
    fn a_fault_in_a_stage_names_its_material_and_line() {
        let script = parse(b"a\n{\n{\nmap x\nblendfuns add\n}\n}\nb { { map y } }");
        let [(line, text)] = script.warnings.as_slice() else {
            panic!("{:?}", script.warnings);
        };
        assert_eq!(*line, 5);
        assert!(text.contains("`a`") && text.contains("blendfuns"), "{text}");
        assert_eq!(script.materials.len(), 2);
    }

    #[test]
    fn unknown_keywords_cost_a_line_and_broken_braces_the_rest() {
        let script = parse(b"a { dp_water 1 2\n surfaceparm sky }\nb\nc { }");
        assert_eq!(script.materials.len(), 1);
        assert!(script.materials[0].has_parm("sky"));
        assert_eq!(script.warnings.len(), 2, "{:?}", script.warnings);
        assert_eq!(parse(b"a { { map x").materials.len(), 1);
        assert_eq!(parse(b"a { { map x").warnings.len(), 1);
    }
}
