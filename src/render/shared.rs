//! Structs that Rust fills and WGSL reads; a test compares size and member offsets with the WGSL twins of the same names.

use bytemuck::{Pod, Zeroable};

/// Memory layout of a shared struct, for the comparison with its twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLayout {
    /// Name in WGSL.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Member names and offsets in bytes, in order.
    pub members: &'static [(&'static str, usize)],
}

macro_rules! shared {
    ($(#[$meta:meta])* $name:ident { $($(#[$member_meta:meta])* $member:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        pub struct $name {
            $($(#[$member_meta])* pub $member: $kind,)*
        }
        impl $name {
            /// Where its members lie.
            pub const LAYOUT: SharedLayout = SharedLayout {
                name: stringify!($name),
                size: size_of::<Self>(),
                members: &[$((stringify!($member), std::mem::offset_of!(Self, $member)),)*],
            };
        }
    };
}

shared! {
    /// What all passes of a frame share.
    Frame {
        /// World to clip space, column by column.
        clip_from_world: [[f32; 4]; 4],
        /// World position of the eye.
        eye: [f32; 3],
        /// Time of the picture.
        time_secs: f32,
        /// Unit vector to the right of the picture.
        right: [f32; 3],
        /// Multiplier of stored light.
        overbright: f32,
        /// Unit vector to the top of the picture.
        up: [f32; 3],
        /// What is left to multiply lightmap texels with, exposure included.
        page_factor: f32,
        /// 2^EV.
        exposure: f32,
        /// One of WGSL's `MODE_` constants.
        mode: u32,
        /// 1 keeps the hue of light above white.
        keep_hue: u32,
        /// Half the side of the cube that carries the sky, game units.
        sky_reach: f32,
        /// Factors of the SH bands.
        bands: [f32; 3],
        /// Sphere radius over the smallest cell side.
        probe_size: f32,
        /// Farthest sphere, game units.
        probe_distance: f32,
        /// 1 moves the two kinds of spheres apart.
        probe_apart: f32,
        /// Size of the picture, pixels.
        size_px: [f32; 2],
    }
}

shared! {
    /// A vertex deformation.
    Deform {
        /// One of WGSL's `DEFORM_` constants; 0 for none.
        kind: u32,
        /// One of WGSL's `WAVE_` constants.
        function: u32,
        /// Of the wave, game units.
        base: f32,
        /// Of the wave or bulge, game units.
        amplitude: f32,
        /// Move: the offset. Else x: periods a unit, or radians a texture width.
        vector: [f32; 3],
        /// At the time of the picture: periods of a wave, radians of a bulge.
        phase: f32,
    }
}

shared! {
    /// How a vertex of a quad that turns towards the eye is placed.
    Sprite {
        /// Of the quad, or of the edge that the vertex ends.
        centre: [f32; 3],
        /// To the right of the picture; with an axis across it and the view. Game units.
        along_first: f32,
        /// Unit vector that the quad turns about; zero when it faces the picture.
        axis: [f32; 3],
        /// To the top of the picture, game units.
        along_second: f32,
    }
}

shared! {
    /// A drawing pass of a material.
    Stage {
        /// Of the material, in order.
        deforms: [Deform; 3],
        /// Pairs: matrix; offset, turbulence amplitude and phase.
        tc_mods: [[f32; 4]; 8],
        /// `tcGen vector`, s.
        tc_s: [f32; 3],
        /// `alphaGen portal`, game units.
        portal_range: f32,
        /// `tcGen vector`, t.
        tc_t: [f32; 3],
        /// Height of the clouds, game units.
        cloud_height: f32,
        /// Colour and alpha of the generators that need no vertex.
        colour: [f32; 4],
        /// The side of its fog that is seen: normal out of the fog, distance.
        fog_plane: [f32; 4],
        /// Of its fog.
        fog_colour: [f32; 3],
        /// 1 / distance in the fog that hides everything.
        fog_density: f32,
        /// One of WGSL's `TC_` constants.
        tc_gen: u32,
        /// One of WGSL's `RGB_` constants.
        rgb_gen: u32,
        /// One of WGSL's `ALPHA_` constants.
        alpha_gen: u32,
        /// One of WGSL's `ALPHA_FUNC_` constants.
        alpha_func: u32,
        /// One of WGSL's `PICTURE_` constants.
        picture: u32,
        /// Pairs in use in `tc_mods`.
        tc_mod_count: u32,
        /// Face of the sky box.
        face: u32,
        /// One of WGSL's `FOG_` constants.
        fog: u32,
        /// What fog weakens: sum of WGSL's `FOGGED_` constants.
        fogged: u32,
        /// Added, with wrapping, to a vertex's number it is that of its sprite.
        sprite_offset: u32,
        /// Of a flare: layer of its picture.
        layer: u32,
        /// Sum of WGSL's `FLARE_` constants.
        flare_flags: u32,
    }
}

shared! {
    /// Placement of a part of a grid.
    GridPlace {
        /// Position of point (0, 0, 0), game units.
        origin: [f32; 3],
        /// Smallest cell side, game units.
        smallest: f32,
        /// Distance of neighbours, game units.
        cell_size: [f32; 3],
        /// Number of the part's first point.
        first: u32,
        /// Points along each axis.
        counts: [u32; 3],
        /// Unused.
        pad: u32,
    }
}

shared! {
    /// Light at a point by the legacy grid.
    LegacyPoint {
        /// From everywhere, byte units.
        ambient: [f32; 3],
        /// Unused.
        pad_a: u32,
        /// From `direction`, byte units.
        directed: [f32; 3],
        /// Unused.
        pad_b: u32,
        /// Towards the light.
        direction: [f32; 3],
        /// Unused.
        pad_c: u32,
    }
}

shared! {
    /// Light on the sample sphere.
    SampleLight {
        /// Legacy: from everywhere, byte units.
        ambient: [f32; 3],
        /// 0 legacy, 1 SH.
        source: u32,
        /// Legacy: from `direction`, byte units.
        directed: [f32; 3],
        /// Unused.
        pad_a: u32,
        /// Legacy: towards the light.
        direction: [f32; 3],
        /// Unused.
        pad_b: u32,
        /// SH: factors of the bands.
        bands: [f32; 3],
        /// Unused.
        pad_c: u32,
        /// SH: coefficients, byte units.
        coefficients: [[f32; 4]; 9],
    }
}

shared! {
    /// Light of a vertex in the style slots behind slot 0.
    StyledVertex {
        /// Lightmap coordinates of slot 1.
        st_1: [f32; 2],
        /// Of slot 2.
        st_2: [f32; 2],
        /// Of slot 3.
        st_3: [f32; 2],
        /// Vertex light of slot 1 as four bytes, red lowest.
        colour_1: u32,
        /// Of slot 2.
        colour_2: u32,
        /// Of slot 3.
        colour_3: u32,
        /// Number of its surface in the list of styled surfaces.
        surface: u32,
    }
}

shared! {
    /// Style slots of a surface.
    StyledSurface {
        /// Layers of the lightmap pages.
        layers: [u32; 4],
        /// Styles of the lightmap pages; 256 for none.
        page_styles: [u32; 4],
        /// Styles of the vertex light; 256 for none.
        vertex_styles: [u32; 4],
    }
}

shared! {
    /// Levels of all light styles.
    StyleLevels {
        /// By style, four to a vector; 1 is the light as baked. Number 256 is 0.
        levels: [[f32; 4]; 65],
    }
}

shared! {
    /// What is known about a surface, by its number in the file.
    SurfaceFacts {
        /// Layer of its lightmap page; the white one without a page.
        layer: u32,
        /// Number of its [`crate::scene::LightSource`] in `ALL`.
        light_by: u32,
        /// Side of a luxel in the world, game units; 0 without a lightmap.
        units_per_luxel: f32,
        /// What of the tree all of it is in: a child as in [`TreeNode`].
        root: i32,
    }
}

shared! {
    /// A node of the map's tree.
    TreeNode {
        /// Of its plane.
        normal: [f32; 3],
        /// Of its plane from the origin.
        distance: f32,
        /// Children in front and behind: a node's number, or −1 − a leaf's.
        children: [i32; 2],
        /// Unused.
        pad_a: u32,
        /// Unused.
        pad_b: u32,
    }
}

shared! {
    /// A leaf of the map's tree.
    TreeLeaf {
        /// −1 for none.
        cluster: i32,
        /// −1 for none.
        area: i32,
    }
}

shared! {
    /// A grid that pixels are lit by.
    SampledGrid {
        /// Position of point (0, 0, 0), game units.
        origin: [f32; 3],
        /// Legacy: one of WGSL's `PROFILE_` constants. SH: 1 blends points in solid.
        profile: u32,
        /// Distance of neighbours, game units.
        cell_size: [f32; 3],
        /// Points in the buffer.
        points: u32,
        /// Points along each axis.
        counts: [u32; 3],
        /// Unused.
        pad: u32,
    }
}

shared! {
    /// Both of them.
    SampledGrids {
        /// The legacy grid.
        legacy: SampledGrid,
        /// The SH grid.
        sh: SampledGrid,
    }
}

shared! {
    /// Colours of the legends.
    ModeColours {
        /// From the finest luxels to the coarsest, then without a lightmap.
        luxels: [[f32; 4]; 7],
        /// By number of [`crate::scene::LightSource`].
        light_by: [[f32; 4]; 4],
        /// What a pass adds.
        overdraw: [f32; 4],
        /// Clay.
        clay: [f32; 4],
        /// No cluster, no area.
        nowhere: [f32; 4],
    }
}

shared! {
    /// How the finished picture is shown.
    Gamma {
        /// 1 / `r_gamma`.
        exponent: f32,
        /// Unused.
        pad_a: u32,
        /// Unused.
        pad_b: u32,
        /// Unused.
        pad_c: u32,
    }
}

shared! {
    /// Where an inline model is now: what its place in the file is multiplied with.
    ModelPlace {
        /// Row of world x.
        x: [f32; 4],
        /// Row of world y.
        y: [f32; 4],
        /// Row of world z.
        z: [f32; 4],
    }
}

shared! {
    /// A flare.
    Flare {
        /// Position, game units.
        origin: [f32; 3],
        /// Unused.
        pad_a: u32,
        /// Of its light, 0 to 1.
        colour: [f32; 3],
        /// Unused.
        pad_b: u32,
        /// Where it shines; zero for everywhere.
        normal: [f32; 3],
        /// Unused.
        pad_c: u32,
    }
}

shared! {
    /// How flares come and go.
    FlareFade {
        /// By how much a level may change in this frame.
        step: f32,
        /// Flares of the map.
        count: u32,
        /// Unused.
        pad_a: u32,
        /// Unused.
        pad_b: u32,
    }
}

/// All shared structs.
pub const LAYOUTS: [SharedLayout; 20] = [
    Frame::LAYOUT,
    Deform::LAYOUT,
    Sprite::LAYOUT,
    Stage::LAYOUT,
    GridPlace::LAYOUT,
    LegacyPoint::LAYOUT,
    SampleLight::LAYOUT,
    StyledVertex::LAYOUT,
    StyledSurface::LAYOUT,
    StyleLevels::LAYOUT,
    SurfaceFacts::LAYOUT,
    TreeNode::LAYOUT,
    TreeLeaf::LAYOUT,
    SampledGrid::LAYOUT,
    SampledGrids::LAYOUT,
    ModeColours::LAYOUT,
    Gamma::LAYOUT,
    ModelPlace::LAYOUT,
    Flare::LAYOUT,
    FlareFade::LAYOUT,
];
