use crate::scene::{Lighting, Scene};

/// What the surfaces show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RenderMode {
    /// As in the game: all stages of the material.
    #[default]
    Lit,
    /// Light alone: lightmap or vertex light on white (`r_lightmap 1`).
    Lightmap,
    /// Textures alone: all light white (`r_fullbright 1`).
    Fullbright,
    /// Stored vertex colours, with overbright.
    VertexColour,
    /// Normals as colours: (n + 1) / 2.
    Normals,
    /// Edges of the triangles alone (`r_showtris 1`).
    Wireframe,
    /// Stored directions of light as colours: deluxe maps as they are (`r_showDeluxeMaps 1`).
    Deluxe,
    /// As lit, with the legacy grid's light in place of lightmaps and vertex light.
    GridLit,
    /// The same by the SH grid.
    ShLit,
    /// Lit, without textures.
    Clay,
    /// How often each pixel is written in the lit mode.
    Overdraw,
    /// The lightmap's texels as squares, coloured by their size in the world.
    Luxels,
    /// What lights each surface, by colour: see [`crate::scene::LightSource`].
    LightSource,
    /// Visibility cluster of the leaf in front of each point, by colour.
    Clusters,
    /// Area of the leaf in front of each point, by colour.
    Areas,
    /// Where overbright pushes stored light above white, by channel.
    Clipping,
}

impl RenderMode {
    /// All modes in the order of their keys.
    pub const ALL: [Self; 16] = [
        Self::Lit,
        Self::Lightmap,
        Self::Fullbright,
        Self::VertexColour,
        Self::Normals,
        Self::Wireframe,
        Self::Deluxe,
        Self::GridLit,
        Self::ShLit,
        Self::Clay,
        Self::Overdraw,
        Self::Luxels,
        Self::LightSource,
        Self::Clusters,
        Self::Areas,
        Self::Clipping,
    ];

    /// The word on the button.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lit => "Lit",
            Self::Lightmap => "Lightmap",
            Self::Fullbright => "Fullbright",
            Self::VertexColour => "Vertex",
            Self::Normals => "Normals",
            Self::Wireframe => "Wireframe",
            Self::Deluxe => "Deluxe",
            Self::GridLit => "Grid-lit",
            Self::ShLit => "SH-lit",
            Self::Clay => "Clay",
            Self::Overdraw => "Overdraw",
            Self::Luxels => "Luxels",
            Self::LightSource => "Light source",
            Self::Clusters => "Clusters",
            Self::Areas => "Areas",
            Self::Clipping => "Clipping",
        }
    }

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Lightmap => "lightmap",
            Self::Fullbright => "fullbright",
            Self::VertexColour => "vertex",
            Self::Normals => "normals",
            Self::Wireframe => "wireframe",
            Self::Deluxe => "deluxe",
            Self::GridLit => "grid-lit",
            Self::ShLit => "sh-lit",
            Self::Clay => "clay",
            Self::Overdraw => "overdraw",
            Self::Luxels => "luxels",
            Self::LightSource => "light-source",
            Self::Clusters => "clusters",
            Self::Areas => "areas",
            Self::Clipping => "clipping",
        }
    }

    /// What it shows, without a stop, and the engine's cvar of the same meaning where there is one.
    pub fn tip(self) -> &'static str {
        match self {
            Self::Lit => "As in the game, all stages of the material",
            Self::Lightmap => "Light alone on white surfaces, as r_lightmap 1",
            Self::Fullbright => "Textures alone with white light, as r_fullbright 1",
            Self::VertexColour => "Stored vertex light, as r_vertexLight 1",
            Self::Normals => "Surface normals as colours; r_shownormals 1 draws them as lines",
            Self::Wireframe => "Edges of the triangles, as r_showtris 1",
            Self::Deluxe => {
                "Where the lightmap's light comes from, stored directions as colours, as r_showDeluxeMaps 1"
            }
            Self::GridLit => {
                "The world lit by the legacy grid as models are, each pixel sampled by the chosen profile, as mod_q3bsp_lightgrid_world_surfaces 1"
            }
            Self::ShLit => "The world lit by the SH grid, each pixel sampled by the chosen profile",
            Self::Clay => "Light on grey clay, so that only shape and light are seen",
            Self::Overdraw => {
                "How often each pixel is written, all passes of all surfaces counted, as r_measureOverdraw 1"
            }
            Self::Luxels => "The lightmap's texels as squares, coloured by how large they are",
            Self::LightSource => "What lights each surface: lightmap, vertices, grid or nothing",
            Self::Clusters => {
                "The visibility cluster in front of each point; r_showcluster 1 prints the eye's"
            }
            Self::Areas => {
                "The area in front of each point, what doors with area portals part; r_showcluster 1 prints the eye's"
            }
            Self::Clipping => {
                "Where light times the overbright factor (r_mapOverBrightBits) exceeds white, by channel"
            }
        }
    }

    /// Why there is nothing to see of `scene` lit by `lighting` in this mode; `None` when there is.
    pub fn missing_in(self, scene: &Scene, lighting: &Lighting) -> Option<&'static str> {
        let has_tree = !scene.bsp.nodes.is_empty();
        match self {
            Self::Deluxe if scene.deluxe.is_none() => Some("This map has no deluxe maps."),
            Self::GridLit if lighting.light_grid.is_none() => Some("This map has no legacy grid."),
            Self::ShLit if lighting.sh_grid.is_none() => Some("This map has no SH grid."),
            Self::Luxels if scene.lightmaps.pages.is_empty() => Some("This map has no lightmaps."),
            Self::Clusters | Self::Areas if !has_tree => Some("This map has no usable tree."),
            _ => None,
        }
    }

    /// Whether it shows the light of a grid.
    pub fn shows_grid(self) -> bool {
        matches!(self, Self::GridLit | Self::ShLit)
    }

    /// The mode so many places on in [`RenderMode::ALL`], around the end.
    #[must_use]
    pub fn stepped(self, by: isize) -> Self {
        let count = Self::ALL.len();
        let at = Self::ALL.iter().position(|mode| *mode == self);
        let to = (at.unwrap_or(0) as isize + by).rem_euclid(count as isize);
        Self::ALL[to as usize % count]
    }
}
