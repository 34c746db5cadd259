/// How finely curves are drawn, by the engine's `r_subdivisions`: how far the middle of a curve may be from its chord before
/// it is halved once more, game units.
///
/// Only what is drawn and clicked depends on it: the light compiler divides curves by its own rule and reads them from the
/// file, and grids and checks of them know none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurveDetail {
    /// 80: one halving of nearly every curve.
    Lowest,
    /// 20.
    Low,
    /// 12.
    Medium,
    /// 4, the engine's default.
    #[default]
    High,
    /// 1.
    Highest,
}

impl CurveDetail {
    /// All, coarsest first.
    pub const ALL: [Self; 5] = [
        Self::Lowest,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Highest,
    ];

    /// The engine's `r_subdivisions`, game units.
    pub const fn subdivisions(self) -> u8 {
        match self {
            Self::Lowest => 80,
            Self::Low => 20,
            Self::Medium => 12,
            Self::High => 4,
            Self::Highest => 1,
        }
    }

    /// For people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Lowest => "Lowest, 80",
            Self::Low => "Low, 20",
            Self::Medium => "Medium, 12",
            Self::High => "High, 4",
            Self::Highest => "Highest, 1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finer_details_accept_less() {
        let all = CurveDetail::ALL.map(CurveDetail::subdivisions);
        assert_eq!(all, [80, 20, 12, 4, 1]);
        assert!(CurveDetail::ALL.is_sorted());
    }
}
