/// Areas that a file holds at most; the reader takes no higher numbers.
const AREAS: usize = 256;

/// A set of areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaMask([u64; AREAS / 64]);

impl AreaMask {
    /// Every area.
    pub const ALL: Self = Self([u64::MAX; AREAS / 64]);
    /// None.
    pub const NONE: Self = Self([0; AREAS / 64]);

    /// Whether `area` is in it; the space between areas always is.
    pub fn holds(&self, area: Option<u32>) -> bool {
        area.is_none_or(|area| {
            let word = self.0.get(area as usize / 64);
            word.is_some_and(|word| word >> (area % 64) & 1 != 0)
        })
    }

    fn insert(&mut self, area: u32) {
        if let Some(word) = self.0.get_mut(area as usize / 64) {
            *word |= 1 << (area % 64);
        }
    }
}

/// Which areas are joined by open portals: the engine's symmetric matrix of counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AreaLinks {
    count: usize,
    /// Open portals between two areas, row by row.
    open: Vec<u16>,
}

impl AreaLinks {
    /// `count` areas, all portals shut.
    pub fn new(count: usize) -> Self {
        let count = count.min(AREAS);
        Self {
            count,
            open: vec![0; count * count],
        }
    }

    /// One more open portal between two areas. Numbers that are no areas change nothing.
    pub fn open(&mut self, areas: [u32; 2]) {
        self.change(areas, |portals| portals.saturating_add(1));
    }

    /// One open portal less.
    pub fn shut(&mut self, areas: [u32; 2]) {
        self.change(areas, |portals| portals.saturating_sub(1));
    }

    fn change(&mut self, [a, b]: [u32; 2], change: impl Fn(u16) -> u16) {
        let (a, b) = (a as usize, b as usize);
        if a >= self.count || b >= self.count {
            return;
        }
        let changed = change(self.open[a * self.count + b]);
        self.open[a * self.count + b] = changed;
        self.open[b * self.count + a] = changed;
    }

    /// The areas that open portals join to `from`, itself included.
    pub fn group_of(&self, from: u32) -> AreaMask {
        let mut group = AreaMask::NONE;
        group.insert(from);
        let mut pending = vec![from as usize];
        while let Some(area) = pending.pop() {
            let Some(row) = self.open.get(area * self.count..(area + 1) * self.count) else {
                continue;
            };
            for (other, _) in row.iter().enumerate().filter(|(_, portals)| **portals > 0) {
                if !group.holds(Some(other as u32)) {
                    group.insert(other as u32);
                    pending.push(other);
                }
            }
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(mask: &AreaMask, count: u32) -> Vec<u32> {
        (0..count).filter(|area| mask.holds(Some(*area))).collect()
    }

    #[test]
    fn open_portals_join_areas_through_others() {
        let mut links = AreaLinks::new(5);
        links.open([0, 1]);
        links.open([2, 1]);
        links.open([3, 4]);
        assert_eq!(members(&links.group_of(0), 5), [0, 1, 2]);
        assert_eq!(members(&links.group_of(2), 5), [0, 1, 2]);
        assert_eq!(members(&links.group_of(4), 5), [3, 4]);
        links.shut([1, 2]);
        assert_eq!(members(&links.group_of(0), 5), [0, 1]);
    }

    #[test]
    fn two_doors_between_the_same_areas_are_counted() {
        let mut links = AreaLinks::new(2);
        links.open([0, 1]);
        links.open([1, 0]);
        links.shut([0, 1]);
        assert_eq!(members(&links.group_of(1), 2), [0, 1]);
        links.shut([0, 1]);
        assert_eq!(members(&links.group_of(1), 2), [1]);
        links.shut([0, 1]);
        links.open([0, 1]);
        assert_eq!(members(&links.group_of(0), 2), [0, 1]);
    }

    #[test]
    fn numbers_that_are_no_areas_do_no_harm() {
        let mut links = AreaLinks::new(2);
        links.open([0, 7]);
        links.open([u32::MAX, 1]);
        assert_eq!(members(&links.group_of(0), 2), [0]);
        assert!(links.group_of(9).holds(Some(9)) && !links.group_of(9).holds(Some(0)));
        assert!(!AreaMask::ALL.holds(Some(256)) && AreaMask::NONE.holds(None));
    }
}
