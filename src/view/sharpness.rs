/// Sides of the picture in steps, of its full size.
const STEPS: [f32; 5] = [0.25, 0.375, 0.5, 0.75, 1.0];
/// The step that a picture of unknown cost begins with.
const CAREFUL: usize = 1;
/// What a frame may take, seconds. Half as much again is still fluent, which leaves room for what nobody foresees.
const FRAME_SECS: f32 = 0.033;
/// What a frame takes whatever the number of pixels, seconds, but only this share of its time at most.
const FIXED_SECS: f32 = 0.01;
const FIXED_SHARE: f32 = 0.4;

/// Picks how sharp a software renderer draws a map that changes from frame to frame, so that frames stay short.
///
/// Times are guessed from that of the last frame. Some of it is the same whatever the size; the rest shrinks with the number
/// of pixels, and grows faster than that, as a sharper picture also shows more of the small spheres. It becomes sharper by one
/// step a frame at most, as a guess is worse the farther it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharpness {
    step: usize,
}

impl Default for Sharpness {
    /// As sharp as can be.
    fn default() -> Self {
        Self {
            step: STEPS.len() - 1,
        }
    }
}

impl Sharpness {
    /// Sides of the next picture, of its full size: above 0 to 1.
    pub fn scale(&self) -> f32 {
        STEPS[self.step]
    }

    /// Width and height of the next picture, of at least a pixel, when its full size is `full`.
    pub fn size_of(&self, full: (u32, u32)) -> (u32, u32) {
        let side = |side: u32| ((side as f32 * self.scale()).round() as u32).max(1);
        (side(full.0), side(full.1))
    }

    /// What comes next may take much longer than what was drawn last.
    pub fn be_careful(&mut self) {
        self.step = self.step.min(CAREFUL);
    }

    /// Takes in that a frame took `secs`, in which the map was drawn at `scale`, as this or the full size said.
    pub fn took(&mut self, scale: f32, secs: f32) {
        let drawn = STEPS.iter().rposition(|step| *step <= scale).unwrap_or(0);
        let fixed = FIXED_SECS.min(secs * FIXED_SHARE);
        let is_short = |step: &f32| {
            let sides = step / STEPS[drawn];
            let growth = sides.powi(if sides > 1.0 { 3 } else { 2 });
            fixed + (secs - fixed) * growth <= FRAME_SECS
        };
        let fitting = STEPS.iter().rposition(is_short).unwrap_or(0);
        self.step = fitting.min(drawn + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scales that follow each other when a frame takes `fixed` and `full` times the share of pixels.
    fn scales(start: Sharpness, fixed: f32, full: f32) -> Vec<f32> {
        let mut sharpness = start;
        let follow = |_| {
            let scale = sharpness.scale();
            sharpness.took(scale, fixed + full * scale * scale);
            scale
        };
        (0..8).map(follow).collect()
    }

    fn careful() -> Sharpness {
        let mut sharpness = Sharpness::default();
        sharpness.be_careful();
        sharpness
    }

    #[test]
    fn a_fast_renderer_draws_all_pixels() {
        assert_eq!(scales(Sharpness::default(), 0.003, 0.02), [1.0; 8]);
    }

    #[test]
    fn a_slow_frame_is_followed_by_one_that_fits() {
        let followed = scales(Sharpness::default(), 0.0, 0.1);
        assert_eq!(followed, [1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
        let mut sharpness = Sharpness::default();
        sharpness.took(1.0, 10.0);
        assert_eq!(sharpness, Sharpness { step: 0 });
    }

    #[test]
    fn a_careful_start_becomes_sharp_step_by_step_and_stays_there() {
        let followed = scales(careful(), 0.003, 0.02);
        assert_eq!(followed, [0.375, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn no_frame_that_was_foreseen_is_long() {
        for full in 1..100_u16 {
            for fixed in 0..20_u16 {
                let (fixed, full) = (f32::from(fixed) * 1e-3, f32::from(full) * 3e-3);
                let followed = scales(careful(), fixed, full);
                // A step up is guessed with more growth than there is here, but for the part that is taken to be fixed.
                for pair in followed.windows(2).filter(|pair| pair[1] > pair[0]) {
                    assert!(
                        fixed + full * pair[1] * pair[1] <= FRAME_SECS + 1e-6,
                        "{followed:?}"
                    );
                }
                // It finds its place and does not swing.
                assert_eq!(followed[5..], [followed[5]; 3], "{followed:?}");
            }
        }
    }

    #[test]
    fn sizes_are_whole_pixels_and_the_full_one_is_exact() {
        let full = (651, 605);
        assert_eq!(Sharpness::default().size_of(full), full);
        assert_eq!(careful().size_of(full), (244, 227));
        assert_eq!(careful().size_of((1, 1)), (1, 1));
    }

    #[test]
    fn strange_times_do_no_harm() {
        for (scale, secs) in [(f32::NAN, 0.01), (1.0, f32::NAN), (0.0, 0.0), (9.0, -1.0)] {
            let mut sharpness = Sharpness::default();
            sharpness.took(scale, secs);
            assert!(STEPS.contains(&sharpness.scale()));
        }
    }
}
