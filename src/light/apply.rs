use crate::format::bsp::Bsp;
use crate::light::bake::Baked;

/// Worldspawn key that lists the compiler's command lines.
const COMMAND_LINE_KEY: &str = "_q3map2_cmdline";

/// The BSP with the baked grids in place of its own, the command line noted, and worldspawn's `gridsize` where it must
/// change; nothing else changes.
///
/// A grid that was not baked stays as it was, except that an SH grid is dropped when only the legacy grid was baked: it
/// would show the old light.
pub fn apply(bsp: &Bsp, baked: &Baked) -> Bsp {
    let mut lit = bsp.clone();
    if let Some(points) = &baked.styled_points {
        lit = lit.with_styled_points(points);
    } else if let Some(grid) = &baked.light_grid {
        lit = lit.with_light_grid(&grid.points);
    }
    lit = lit.with_sh_grid(baked.sh_grid.as_ref());
    if let Some(size) = &baked.gridsize_key {
        lit = lit.with_worldspawn_key("gridsize", size);
    }
    if !baked.command_line.is_empty() {
        let world = lit.entities.worldspawn();
        let line = match world.and_then(|world| world.get(COMMAND_LINE_KEY)) {
            Some(before) => format!("{before}; {}", baked.command_line),
            None => baked.command_line.clone(),
        };
        lit = lit.with_worldspawn_key(COMMAND_LINE_KEY, &line);
    }
    lit
}
