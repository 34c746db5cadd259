use std::sync::Arc;

use crate::light::{Baked, Density, FinishedPoints};
use crate::view::state_tests::{grids, with_map};
use crate::view::*;

/// News of a bake with cells of 16: its grids, then coarse or fine light at one point.
fn news(density: Option<Density>) -> Vec<BakeNews> {
    let Some(density) = density else {
        let set = grids(16.0, 9);
        let lattice = set.lattice(GridSource::Sh).unwrap();
        let sh = Some((lattice, vec![false; set.blocked_sh.len()]));
        return vec![BakeNews::Begun { legacy: None, sh }];
    };
    vec![BakeNews::Points(FinishedPoints {
        density,
        legacy: Vec::new(),
        sh: vec![(100, Some([[2.0; 3]; 9]))],
    })]
}

fn progressed(state: &mut State, revision: u64, news: Vec<BakeNews>, is_late: bool) {
    let effect = state.apply(Command::BakeProgressed {
        revision,
        news,
        is_late,
    });
    assert!(effect.is_none());
}

fn start(state: &mut State) -> u64 {
    match state.apply(Command::StartBake) {
        Some(Effect::StartBake { revision, eye, .. }) => {
            assert_eq!(eye, state.camera.eye);
            revision
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_running_bake_is_shown_once_its_coarse_points_are_there_or_it_is_late() {
    let cell = |state: &State| {
        let map = state.map.as_ref().unwrap();
        map.shown().lattice(GridSource::Sh).unwrap().cell_size.x
    };
    for (density, is_late, expected) in [
        (Density::Coarse, false, 64.0),
        (Density::Coarse, true, 16.0),
        (Density::Fine, false, 16.0),
    ] {
        let mut state = with_map();
        let revision = start(&mut state);
        progressed(&mut state, revision, news(None), is_late);
        assert!((cell(&state) - 64.0).abs() < 1e-6, "nothing to show yet");
        progressed(&mut state, revision, news(Some(density)), is_late);
        assert!(
            (cell(&state) - expected).abs() < 1e-6,
            "{density:?} {is_late}"
        );
    }
}

#[test]
fn a_stopped_bake_leaves_the_old_grids_and_a_finished_one_the_new_with_the_selection_in_its_place()
{
    let probe = |index| ProbeRef {
        source: GridSource::Sh,
        index,
    };
    let mut state = with_map();
    // The middle of 3³ points 64 apart.
    state.apply(Command::SelectProbe(probe(13)));
    let revision = start(&mut state);
    progressed(&mut state, revision, news(None), false);
    progressed(&mut state, revision, news(Some(Density::Fine)), false);
    // (64, 64, 64) is point (4, 4, 4) of 9³ points 16 apart.
    assert_eq!(state.selected, Some(probe(4 * 81 + 4 * 9 + 4)));
    state.apply(Command::ToggleBlink);
    assert!(state.map.as_ref().unwrap().shown_draft().is_some());
    state.apply(Command::BakeCancelled { revision });
    let map = state.map.as_ref().unwrap();
    assert!(map.draft.is_none() && map.bake.is_none());
    assert_eq!(map.shown(), &*map.original);
    assert_eq!(state.selected, Some(probe(13)));

    // What a stopped bake still had to say is not taken for the next one's.
    progressed(&mut state, revision, news(Some(Density::Fine)), true);
    assert!(state.map.as_ref().unwrap().draft.is_none());

    let revision = start(&mut state);
    progressed(&mut state, revision, news(None), false);
    progressed(&mut state, revision, news(Some(Density::Fine)), false);
    state.apply(Command::BakeFinished {
        revision,
        baked: Arc::new(Baked::default()),
        grids: grids(32.0, 5),
        secs: 1.0,
    });
    let map = state.map.as_ref().unwrap();
    assert!(map.draft.is_none());
    assert!(std::ptr::eq(
        map.shown(),
        &raw const *map.bake.as_ref().unwrap().grids
    ));
    // The same place on 5³ points 32 apart.
    assert_eq!(state.selected, Some(probe(2 * 25 + 2 * 5 + 2)));
}
