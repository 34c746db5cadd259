//! Which file holds which lump, and what a record's members are. One table serves reading and writing.

use crate::format::bsp::{Format, LumpKind, STYLE_SLOTS};

/// How many light styles a record stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Styles {
    /// IBSP: the first only.
    One,
    /// RBSP and FBSP.
    Four,
}

impl Styles {
    pub(super) fn of(format: Format) -> Self {
        if format.has_styles() {
            Self::Four
        } else {
            Self::One
        }
    }
}

/// Type of a stored number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Int,
    Byte,
    Float,
}

impl Element {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Int | Self::Float => 4,
        }
    }
}

/// How a member's numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One number.
    Scalar,
    /// `[a, b]`.
    List(usize),
    /// `[[a, b], [c, d]]`: rows, then numbers in a row.
    Rows(usize, usize),
    /// `{ "mins": [3], "maxs": [3] }`.
    MinMax,
    /// A 64-byte name.
    Name,
    /// An object of named bits.
    Flags(&'static [(u32, &'static str)]),
}

impl Form {
    /// Numbers in the JSON member.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Scalar | Self::Flags(_) => 1,
            Self::List(count) => count,
            Self::Rows(rows, columns) => rows * columns,
            Self::MinMax => 6,
            Self::Name => 0,
        }
    }
}

/// What stands in the places that a record does not store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// All numbers are stored.
    Whole,
    /// The member has a part for each style slot; with one style only the first is stored and the others show this number.
    Slots(i64),
    /// As `Slots`; the others repeat the first.
    SlotsCopied,
    /// Stored with four styles only; otherwise these numbers show.
    FourOnly(&'static [i64]),
}

/// A member of a record, in the order of storage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) element: Element,
    pub(super) form: Form,
    pub(super) storage: Storage,
}

/// Bytes of a name in a record.
pub(super) const NAME_BYTES: usize = 64;

impl Field {
    /// Numbers that a record stores.
    pub(super) fn stored(&self, styles: Styles) -> usize {
        let count = self.form.count();
        match (self.storage, styles) {
            (Storage::Whole, _) | (_, Styles::Four) => count,
            (Storage::Slots(_) | Storage::SlotsCopied, Styles::One) => count / STYLE_SLOTS,
            (Storage::FourOnly(_), Styles::One) => 0,
        }
    }

    /// Bytes in a record.
    pub(super) fn bytes(&self, styles: Styles) -> usize {
        match self.form {
            Form::Name => NAME_BYTES,
            _ => self.stored(styles) * self.element.bytes(),
        }
    }
}

/// A file of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct LumpFile {
    pub(super) lump: LumpKind,
    pub(super) file: &'static str,
    /// Members are called `key#number`.
    pub(super) key: &'static str,
    pub(super) members: Members,
}

/// What a record looks like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Members {
    /// An object.
    Object(&'static [Field]),
    /// The value of one field, without an object around it.
    Bare(Field),
}

impl LumpFile {
    pub(super) fn fields(&self) -> &[Field] {
        match &self.members {
            Members::Object(fields) => fields,
            Members::Bare(field) => std::slice::from_ref(field),
        }
    }

    /// Whether a record differs between the formats.
    pub(super) fn has_slots(&self) -> bool {
        let mut fields = self.fields().iter();
        fields.any(|field| field.storage != Storage::Whole)
    }

    pub(super) fn record_bytes(&self, styles: Styles) -> usize {
        self.fields().iter().map(|field| field.bytes(styles)).sum()
    }
}

const fn field(key: &'static str, element: Element, form: Form) -> Field {
    Field {
        key,
        element,
        form,
        storage: Storage::Whole,
    }
}

const fn int(key: &'static str) -> Field {
    field(key, Element::Int, Form::Scalar)
}

const fn name(key: &'static str) -> Field {
    field(key, Element::Byte, Form::Name)
}

const fn slots(key: &'static str, element: Element, form: Form, rest: i64) -> Field {
    Field {
        key,
        element,
        form,
        storage: Storage::Slots(rest),
    }
}

const fn copied(key: &'static str) -> Field {
    Field {
        key,
        element: Element::Byte,
        form: Form::Rows(STYLE_SLOTS, 3),
        storage: Storage::SlotsCopied,
    }
}

const fn four_only(
    key: &'static str,
    element: Element,
    form: Form,
    otherwise: &'static [i64],
) -> Field {
    Field {
        key,
        element,
        form,
        storage: Storage::FourOnly(otherwise),
    }
}

/// Styles of a record that has one: the normal light, then unused slots.
const ONE_STYLE: &[i64] = &[0, 255, 255, 255];
const PER_SLOT: Form = Form::List(STYLE_SLOTS);

/// All lumps that are arrays of records, in the order of the files.
pub(super) const RECORD_FILES: [LumpFile; 16] = [
    LumpFile {
        lump: LumpKind::Shaders,
        file: "shaders.json",
        key: "shader",
        members: Members::Object(&[
            name("shader"),
            field("surfaceFlags", Element::Int, Form::Flags(SURFACE_FLAGS)),
            field("contentFlags", Element::Int, Form::Flags(CONTENT_FLAGS)),
        ]),
    },
    LumpFile {
        lump: LumpKind::Models,
        file: "models.json",
        key: "model",
        members: Members::Object(&[
            field("minmax", Element::Float, Form::MinMax),
            int("firstBSPSurface"),
            int("numBSPSurfaces"),
            int("firstBSPBrush"),
            int("numBSPBrushes"),
        ]),
    },
    LumpFile {
        lump: LumpKind::Planes,
        file: "planes.json",
        key: "plane",
        members: Members::Bare(field("", Element::Float, Form::List(4))),
    },
    LumpFile {
        lump: LumpKind::Leafs,
        file: "leafs.json",
        key: "leaf",
        members: Members::Object(&[
            int("cluster"),
            int("area"),
            field("minmax", Element::Int, Form::MinMax),
            int("firstBSPLeafSurface"),
            int("numBSPLeafSurfaces"),
            int("firstBSPLeafBrush"),
            int("numBSPLeafBrushes"),
        ]),
    },
    LumpFile {
        lump: LumpKind::Nodes,
        file: "nodes.json",
        key: "node",
        members: Members::Object(&[
            int("planeNum"),
            field("children", Element::Int, Form::List(2)),
            field("minmax", Element::Int, Form::MinMax),
        ]),
    },
    number_file(
        LumpKind::LeafSurfaces,
        "LeafSurfaces.json",
        "LeafSurface",
        Element::Int,
    ),
    number_file(
        LumpKind::LeafBrushes,
        "LeafBrushes.json",
        "LeafBrush",
        Element::Int,
    ),
    LumpFile {
        lump: LumpKind::Brushes,
        file: "Brushes.json",
        key: "Brush",
        members: Members::Object(&[int("firstSide"), int("numSides"), int("shaderNum")]),
    },
    LumpFile {
        lump: LumpKind::BrushSides,
        file: "BrushSides.json",
        key: "BrushSide",
        members: Members::Object(&[
            int("planeNum"),
            int("shaderNum"),
            four_only("surfaceNum", Element::Int, Form::Scalar, &[-1]),
        ]),
    },
    LumpFile {
        lump: LumpKind::DrawVerts,
        file: "DrawVert.json",
        key: "DrawVert",
        members: Members::Object(&[
            field("xyz", Element::Float, Form::List(3)),
            field("st", Element::Float, Form::List(2)),
            slots("lightmap", Element::Float, Form::Rows(STYLE_SLOTS, 2), 0),
            field("normal", Element::Float, Form::List(3)),
            slots("color", Element::Byte, Form::Rows(STYLE_SLOTS, 4), 0),
        ]),
    },
    LumpFile {
        lump: LumpKind::Surfaces,
        file: "DrawSurfaces.json",
        key: "DrawSurface",
        members: Members::Object(&[
            int("shaderNum"),
            int("fogNum"),
            int("surfaceType"),
            int("firstVert"),
            int("numVerts"),
            int("firstIndex"),
            int("numIndexes"),
            four_only("lightmapStyles", Element::Byte, PER_SLOT, ONE_STYLE),
            four_only("vertexStyles", Element::Byte, PER_SLOT, ONE_STYLE),
            slots("lightmapNum", Element::Int, PER_SLOT, -3),
            slots("lightmapX", Element::Int, PER_SLOT, 0),
            slots("lightmapY", Element::Int, PER_SLOT, 0),
            int("lightmapWidth"),
            int("lightmapHeight"),
            field("lightmapOrigin", Element::Float, Form::List(3)),
            field("lightmapVecs", Element::Float, Form::Rows(3, 3)),
            int("patchWidth"),
            int("patchHeight"),
        ]),
    },
    number_file(
        LumpKind::DrawIndexes,
        "DrawIndexes.json",
        "DrawIndex",
        Element::Int,
    ),
    LumpFile {
        lump: LumpKind::Fogs,
        file: "fogs.json",
        key: "fog",
        members: Members::Object(&[name("shader"), int("brushNum"), int("visibleSide")]),
    },
    LumpFile {
        lump: LumpKind::LightGrid,
        file: "GridPoints.json",
        key: "GridPoint",
        members: Members::Object(&[
            copied("ambient"),
            copied("directed"),
            four_only("styles", Element::Byte, PER_SLOT, ONE_STYLE),
            field("latLong", Element::Byte, Form::List(2)),
        ]),
    },
    number_file(
        LumpKind::Visibility,
        "VisBytes.json",
        "VisByte",
        Element::Byte,
    ),
    number_file(
        LumpKind::Lightmaps,
        "LightBytes.json",
        "LightByte",
        Element::Byte,
    ),
];

/// The file of the entity text.
pub(super) const ENTITIES_FILE: &str = "entities.json";
/// The file of the SH grid.
pub(super) const SH_FILE: &str = "GridPointsSH.json";

const NUM: Field = int("Num");
const NUM_BYTE: Field = field("Num", Element::Byte, Form::Scalar);

const fn number_file(
    lump: LumpKind,
    file: &'static str,
    key: &'static str,
    element: Element,
) -> LumpFile {
    let members: &[Field] = match element {
        Element::Byte => &[NUM_BYTE],
        Element::Int | Element::Float => &[NUM],
    };
    LumpFile {
        lump,
        file,
        key,
        members: Members::Object(members),
    }
}

/// Names of surface flags of the IBSP games, as material scripts say them.
pub(super) const SURFACE_FLAGS: &[(u32, &str)] = &[
    (0x1, "nodamage"),
    (0x2, "slick"),
    (0x4, "sky"),
    (0x8, "ladder"),
    (0x10, "noimpact"),
    (0x20, "nomarks"),
    (0x40, "flesh"),
    (0x80, "nodraw"),
    (0x100, "hint"),
    (0x200, "skip"),
    (0x400, "nolightmap"),
    (0x800, "pointlight"),
    (0x1000, "metalsteps"),
    (0x2000, "nosteps"),
    (0x4000, "nonsolid"),
    (0x8000, "lightfilter"),
    (0x1_0000, "alphashadow"),
    (0x2_0000, "nodlight"),
    (0x4_0000, "dust"),
];

/// Names of content flags of the IBSP games.
pub(super) const CONTENT_FLAGS: &[(u32, &str)] = &[
    (0x1, "default"),
    (0x8, "lava"),
    (0x10, "slime"),
    (0x20, "water"),
    (0x40, "fog"),
    (0x8000, "areaportal"),
    (0x1_0000, "playerclip"),
    (0x2_0000, "monsterclip"),
    (0x10_0000, "clusterportal"),
    (0x20_0000, "donotenter"),
    (0x40_0000, "botclip"),
    (0x100_0000, "origin"),
    (0x800_0000, "detail"),
    (0x1000_0000, "structural"),
    (0x2000_0000, "trans"),
    (0x8000_0000, "nodrop"),
];
