/// What a code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable; the letter is the severity.
    pub code: &'static str,
    /// What must hold, or what is counted.
    pub what: &'static str,
}

const fn rule(code: &'static str, what: &'static str) -> Rule {
    Rule { code, what }
}

/// All codes in the order of the documentation. Codes are never given a new meaning.
pub const RULES: &[Rule] = &[
    rule(
        "E101",
        "the file cannot be opened: it is cut off, or a lump lies outside it",
    ),
    rule("E102", "the file is of another format"),
    rule(
        "E103",
        "a number or a lump has a shape that no sound file has; the file is not opened",
    ),
    rule(
        "W100",
        "the reader mended something that no other code says",
    ),
    rule(
        "I201",
        "lumps lie at offsets that are no multiple of 4: legal, but code that casts them in place fails",
    ),
    rule("I202", "bytes behind the last lump"),
    rule("W203", "two lumps share bytes"),
    rule("E205", "a lump's length is no multiple of its record"),
    rule(
        "I206",
        "bytes between lumps that belong to none, beyond padding and the compiler's mark",
    ),
    rule("E211", "there is no material"),
    rule("W212", "a material name fills its field without a NUL"),
    rule(
        "W213",
        "a material name that no engine may open: absolute, or with `..`",
    ),
    rule("I214", "a material is listed twice with the same flags"),
    rule("E221", "there is no plane"),
    rule(
        "W222",
        "a plane is not finite, or its normal is not of length 1 within 0.001",
    ),
    rule(
        "I223",
        "two planes of a pair are not exact opposites, or one is missing",
    ),
    rule("E231", "there is no node"),
    rule("E232", "a node names a plane or child that is not there"),
    rule("E233", "the tree reaches a node or leaf twice"),
    rule(
        "W234",
        "the leafs that the tree does not reach are not as many as the models",
    ),
    rule("E241", "there is no leaf"),
    rule(
        "E242",
        "a leaf's surfaces or brushes lie outside their lists",
    ),
    rule(
        "E243",
        "a leaf's cluster is below −1, or its area not from −1 to 255",
    ),
    rule("E251", "a leaf lists a surface that is not there"),
    rule("E261", "a leaf lists a brush that is not there"),
    rule("E271", "there is no model"),
    rule("E272", "a model's surfaces or brushes are not there"),
    rule("W273", "a model's bounds are not finite, or turned around"),
    rule(
        "I274",
        "more than 256 models: more than the original engine takes",
    ),
    rule("I275", "an inline model that no entity shows"),
    rule("W276", "an entity shows a model that is not there"),
    rule(
        "E281",
        "a brush names sides or a material that is not there",
    ),
    rule(
        "E282",
        "a brush has fewer than six sides, or its first six are not axial: engines take its bounds from them",
    ),
    rule(
        "E291",
        "a brush side names a plane or material that is not there",
    ),
    rule(
        "W301",
        "a vertex position is not finite, or farther out than 131,072 units",
    ),
    rule(
        "W302",
        "a vertex's texture coordinates or normal are not finite",
    ),
    rule(
        "W303",
        "lightmap coordinates of a lit surface are not finite",
    ),
    rule("I304", "a vertex normal is zero"),
    rule("E311", "an index names a vertex outside its surface"),
    rule("E312", "a surface's number of indexes is no multiple of 3"),
    rule("I313", "a triangle has no area"),
    rule(
        "W321",
        "a fog covers the whole world: Quake 3 refuses the map, others ignore it",
    ),
    rule("W322", "a fog names a brush or side that is not there"),
    rule("W323", "more than 31 fogs: engines sort by five bits"),
    rule("E331", "a surface names a material that is not there"),
    rule("E332", "a surface's vertices or indexes are not there"),
    rule("E333", "a surface is of an unknown kind"),
    rule("W334", "a surface names a fog that is not there"),
    rule(
        "E335",
        "a patch's size is not odd, from 3 to 129, at most 1024 points, and equal to its vertices",
    ),
    rule("W336", "a surface names a lightmap page that is not there"),
    rule("W341", "the lightmaps are no whole number of pages"),
    rule("I342", "lightmap pages that no surface uses"),
    rule(
        "W361",
        "the visibility data do not fit their own numbers or the leafs; everything counts as visible",
    ),
    rule(
        "W371",
        "the SH grid or its directory entry is not sound and ignored",
    ),
    rule("W372", "the advertisements are not sound and ignored"),
    rule("W381", "entity text that had to be mended"),
    rule("I382", "the entity text does not end in a NUL"),
    rule("W383", "worldspawn's gridsize is not usable"),
    rule(
        "W384",
        "a key or value is longer than engines take (31 and 1023 bytes)",
    ),
    rule(
        "I385",
        "an entity has more than 64 pairs: Quake 3 refuses the map",
    ),
    rule("I386", "the first entity is not worldspawn"),
    rule(
        "I387",
        "an entity has a key twice: engines differ on which counts",
    ),
    rule(
        "W113",
        "the light grid's length is not what bounds and gridsize need; engines drop it",
    ),
    rule(
        "W114",
        "floors lie above a grid level that is lit: models may be lit from below",
    ),
    rule(
        "I401",
        "there is no light grid; engines light models evenly",
    ),
    rule(
        "I402",
        "model 0's bounds are smaller than its geometry: a light-grid brush, the grid does not cover the map",
    ),
    rule(
        "I403",
        "grid points in solid, and how many of them hold light",
    ),
    rule("I404", "grid points in the void around the map"),
    rule("I405", "grid points in the open without any light"),
    rule(
        "I406",
        "grid points with directed light but no ambient: Quake 3 skips them",
    ),
    rule(
        "I407",
        "grid points whose ambient light is 1 1 1: kept from being skipped by the compiler",
    ),
    rule("I408", "lit grid points whose direction is straight up"),
    rule("W411", "every grid point is black: the map was never lit"),
    rule(
        "W412",
        "grid points that name no entry of the palette: they count as missing",
    ),
    rule("W421", "SH points with coefficients that are not finite"),
    rule("I422", "SH points in the open without any light"),
    rule(
        "I423",
        "SH points in solid, and how many of them hold light",
    ),
    rule("I424", "SH points in the void around the map"),
    rule("W120", "a material of the map was not found"),
];
