//! The demo map, embedded: our own work, free to ship.

macro_rules! demo_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../assets/demo/", $name)).as_slice())),*]
    };
}

/// Virtual name and contents of every file of the demo's game folder.
pub(super) const FILES: &[(&str, &[u8])] = demo_files![
    "maps/atrium.bsp",
    "maps/atrium.map",
    "maps/atrium.srf",
    "scripts/atrium.shader",
    "scripts/common.shader",
    "textures/atrium/brick.jpg",
    "textures/atrium/glass.tga",
    "textures/atrium/grate.tga",
    "textures/atrium/green.jpg",
    "textures/atrium/lamp.jpg",
    "textures/atrium/metal.jpg",
    "textures/atrium/plaster.jpg",
    "textures/atrium/red.jpg",
    "textures/atrium/sky.jpg",
    "textures/atrium/stone.jpg",
    "textures/atrium/tiles.jpg",
    "textures/atrium/white.jpg",
    "textures/atrium/wood.jpg",
];
