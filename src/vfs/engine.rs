/// Whose rule says what wins inside one game folder (`-engine`).
///
/// All of them search game folders from the mod to the base game, the user's folder before the installation, and of the
/// archives of one folder the name that sorts last first. They differ in where the folder's loose files stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The compiler's: loose files first, which is what a mapper who changes files wants.
    #[default]
    Q3map2,
    /// Loose files first.
    Ioq3,
    /// Loose files first.
    DarkPlaces,
    /// Archives first: a loose file never hides a packed one.
    Quake3,
    /// Archives first.
    Q3e,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Q3map2,
        Self::Ioq3,
        Self::DarkPlaces,
        Self::Quake3,
        Self::Q3e,
    ];

    /// The word that the command line knows it by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Q3map2 => "q3map2",
            Self::Ioq3 => "ioq3",
            Self::DarkPlaces => "darkplaces",
            Self::Quake3 => "quake3",
            Self::Q3e => "q3e",
        }
    }

    /// Whether a folder's archives and `.pk3dir` folders are searched before its loose files.
    pub fn archives_first(self) -> bool {
        match self {
            Self::Q3map2 | Self::Ioq3 | Self::DarkPlaces => false,
            Self::Quake3 | Self::Q3e => true,
        }
    }
}

impl std::str::FromStr for Engine {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.word() == word);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("engines are {words}")
        })
    }
}
