use crate::scene::{AreaLinks, AreaMask, Door, MOVERS_MAX};

/// One bit a door.
type Bits = [u64; MOVERS_MAX / 64];

fn is_set(bits: &Bits, door: usize) -> bool {
    bits.get(door / 64)
        .is_some_and(|word| word >> (door % 64) & 1 != 0)
}

fn set(bits: &mut Bits, door: usize) {
    if let Some(word) = bits.get_mut(door / 64) {
        *word |= 1 << (door % 64);
    }
}

fn clear(bits: &mut Bits, door: usize) {
    if let Some(word) = bits.get_mut(door / 64) {
        *word &= !(1 << (door % 64));
    }
}

/// Which doors stand open, by their numbers in [`crate::scene::Scene::doors`].
///
/// There is no game that opens doors, so as long as nobody touches one it is drawn as the game begins with it, and its portal
/// counts as open: what is behind it is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoorStates {
    /// Doors that nobody touched are shut, and so are their portals.
    pub closed: bool,
    touched: Bits,
    open: Bits,
}

impl DoorStates {
    /// Nobody touched a door; all are shut, or as the game begins with them and their portals open.
    pub fn untouched(closed: bool) -> Self {
        Self {
            closed,
            ..Self::default()
        }
    }

    /// Whether the door is drawn where it stands when it is open.
    pub fn is_drawn_open(&self, doors: &[Door], door: usize) -> bool {
        if is_set(&self.touched, door) {
            return is_set(&self.open, door);
        }
        !self.closed && doors.get(door).is_some_and(|door| door.starts_open)
    }

    /// Whether one can look from one of its areas into the other.
    pub fn is_portal_open(&self, door: usize) -> bool {
        if is_set(&self.touched, door) {
            is_set(&self.open, door)
        } else {
            !self.closed
        }
    }

    /// Opens a door, or shuts it when it is drawn open, and its whole team with it.
    pub fn toggle(&mut self, doors: &[Door], door: usize) {
        let Some(leader) = doors.get(door).map(|door| door.leader) else {
            return;
        };
        let opens = !self.is_drawn_open(doors, door);
        for (number, _) in (0..).zip(doors).filter(|(_, other)| other.leader == leader) {
            set(&mut self.touched, number);
            if opens {
                set(&mut self.open, number);
            } else {
                clear(&mut self.open, number);
            }
        }
    }

    /// Whether all doors are as nobody touched them, and their portals open.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The areas that can be looked into from `area`: all while every portal counts as open, and from outside the areas.
    ///
    /// Rooms that no door leads to, such as those reached by a teleporter, are hidden as soon as one portal is shut, as the
    /// engine hides them.
    pub fn areas_from(&self, doors: &[Door], area_count: usize, area: Option<u32>) -> AreaMask {
        let Some(area) = area else {
            return AreaMask::ALL;
        };
        let portals = (0..).zip(doors);
        let portals = portals.filter_map(|(number, door)| Some((number, door.areas?)));
        let mut links = AreaLinks::new(area_count);
        let mut is_any_shut = self.closed;
        for (number, areas) in portals {
            if self.is_portal_open(number) {
                links.open(areas);
            } else {
                is_any_shut = true;
            }
        }
        if is_any_shut {
            links.group_of(area)
        } else {
            AreaMask::ALL
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Opening;

    fn door(leader: u32, starts_open: bool) -> Door {
        Door {
            entity: 0,
            model: 1,
            opening: Opening::Stays,
            starts_open,
            areas: Some([0, 1]),
            leader,
        }
    }

    #[test]
    fn an_untouched_door_is_shut_and_lets_one_look_through() {
        let doors = [door(0, false), door(1, true)];
        let mut states = DoorStates::default();
        let drawn = |states: &DoorStates| [0, 1].map(|d| states.is_drawn_open(&doors, d));
        let portals = |states: &DoorStates| [0, 1].map(|d| states.is_portal_open(d));
        assert_eq!(
            (drawn(&states), portals(&states)),
            ([false, true], [true; 2])
        );
        states.closed = true;
        assert_eq!((drawn(&states), portals(&states)), ([false; 2], [false; 2]));
        states.toggle(&doors, 1);
        assert_eq!(drawn(&states), [false, true]);
        assert_eq!(portals(&states), [false, true]);
        // The second touch shuts it for good, whatever the rest does.
        states.toggle(&doors, 1);
        states.closed = false;
        assert_eq!(
            (drawn(&states), portals(&states)),
            ([false; 2], [true, false])
        );
        assert!(!states.is_default());
    }

    #[test]
    fn a_team_moves_together() {
        let doors = [door(0, false), door(1, false), door(0, false)];
        let mut states = DoorStates::default();
        states.toggle(&doors, 2);
        let drawn = |states: &DoorStates| [0, 1, 2].map(|d| states.is_drawn_open(&doors, d));
        assert_eq!(drawn(&states), [true, false, true]);
        states.toggle(&doors, 0);
        assert_eq!(drawn(&states), [false; 3]);
        assert!(!states.is_portal_open(2) && states.is_portal_open(1));
        states.toggle(&doors, 9);
        assert!(states.is_portal_open(9), "a number that is no door");
    }
}
