use glam::Vec3;

use crate::format::entities::{Entities, Entity};

/// Eye above a player's origin, game units.
const EYE_HEIGHT: f32 = 26.0;

/// Classes that start a view, best first. The start is a player spawn, so intermission cameras come last.
const CLASSES: [&str; 9] = [
    "info_player_deathmatch",
    "info_player_start",
    "team_CTF_redspawn",
    "team_CTF_bluespawn",
    "team_CTF_redplayer",
    "team_CTF_blueplayer",
    "info_player_team1",
    "info_player_team2",
    "info_player_intermission",
];

/// A place to start a view from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpawnPoint {
    /// Eye position, game units.
    pub eye: Vec3,
    /// Heading from +X towards +Y, radians.
    pub yaw: f32,
    /// Positive looks down, radians.
    pub pitch: f32,
}

/// Start views best first: players, teams, intermission, then any other `info_player_*`.
pub fn spawn_points(entities: &Entities) -> Vec<SpawnPoint> {
    let rank = |entity: &Entity| {
        let class = entity.classname();
        CLASSES
            .iter()
            .position(|known| known.eq_ignore_ascii_case(class))
            .or_else(|| {
                class
                    .to_ascii_lowercase()
                    .starts_with("info_player")
                    .then_some(CLASSES.len())
            })
    };
    let mut ranked: Vec<(usize, SpawnPoint)> = entities
        .list
        .iter()
        .filter_map(|entity| Some((rank(entity)?, spawn_point(entity, entities))))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, spawn)| spawn).collect()
}

fn spawn_point(entity: &Entity, entities: &Entities) -> SpawnPoint {
    let is_player = !entity
        .classname()
        .eq_ignore_ascii_case("info_player_intermission");
    let eye = entity.origin() + Vec3::Z * if is_player { EYE_HEIGHT } else { 0.0 };
    let target = entity
        .get("target")
        .and_then(|name| entities.find_target(name));
    if let (Some(target), false) = (target, is_player) {
        let towards = target.origin() - eye;
        return SpawnPoint {
            eye,
            yaw: towards.y.atan2(towards.x),
            pitch: (-towards.z).atan2(towards.truncate().length()),
        };
    }
    let angles = entity.vector(&["angles"]).unwrap_or(Vec3::ZERO);
    let yaw = entity.number(&["angle"]).unwrap_or(angles.y);
    SpawnPoint {
        eye,
        yaw: yaw.to_radians(),
        pitch: if is_player {
            0.0
        } else {
            angles.x.to_radians()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn player_spawns_come_before_the_intermission_camera() {
        let text = b"{ \"classname\" \"worldspawn\" } { \"classname\" \"info_player_intermission\" \"origin\" \"0 0 100\" \"target\" \"t\" }
            { \"classname\" \"info_player_deathmatch\" \"origin\" \"1 2 3\" \"angle\" \"90\" } { \"classname\" \"x\" \"targetname\" \"t\" \"origin\" \"100 0 0\" }";
        let spawns = spawn_points(&Entities::parse(text));
        assert_eq!(spawns[0].eye, Vec3::new(1.0, 2.0, 29.0));
        assert!((spawns[0].yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
        assert!((spawns[1].pitch - std::f32::consts::FRAC_PI_4).abs() < 1e-6);
    }
}
