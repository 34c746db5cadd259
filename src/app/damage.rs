use egui::epaint::{Primitive, Vertex};
use egui::{ClippedPrimitive, Color32, Mesh, Pos2, Rect, TextureId, Vec2};

/// Areas drawn separately at most; more are joined.
const AREAS: usize = 8;
/// Two areas are joined when that adds fewer pixels than this; each area costs a pass over the panels' triangles.
const WASTE: f32 = 4096.0;

/// What is drawn below everything where something is drawn again: a plain black.
pub(super) const GROUND: TextureId = TextureId::User(u64::MAX - 1);

/// Finds out which pixels of the panels a frame changes, so that a software renderer needs not draw the others again.
#[derive(Default)]
pub(super) struct Damage {
    drawn: Option<Drawn>,
}

/// What the panels' texture holds.
struct Drawn {
    jobs: Vec<ClippedPrimitive>,
    size: [u32; 2],
    pixels_per_point: f32,
}

/// What has to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Areas {
    /// Everything.
    All,
    /// These, points, on bounds of pixels; none overlaps another. None at all when nothing changed.
    Some(Vec<Rect>),
}

impl Damage {
    /// Forgets what was drawn: everything is drawn the next time.
    pub(super) fn forget(&mut self) {
        self.drawn = None;
    }

    /// Where the picture of `jobs` may differ from that of the last call. The picture in `fresh` changed even where it is
    /// shown as before.
    pub(super) fn take(
        &mut self,
        jobs: &[ClippedPrimitive],
        size: [u32; 2],
        pixels_per_point: f32,
        fresh: Option<TextureId>,
    ) -> Areas {
        let old = self.drawn.replace(Drawn {
            jobs: jobs.to_vec(),
            size,
            pixels_per_point,
        });
        let Some(old) = old.filter(|old| {
            old.size == size && old.pixels_per_point.to_bits() == pixels_per_point.to_bits()
        }) else {
            return Areas::All;
        };
        let mut found = Found {
            areas: Vec::new(),
            size: Vec2::new(size[0] as f32, size[1] as f32),
            pixels_per_point,
        };
        found.compare_jobs(&old.jobs, jobs);
        for job in jobs {
            if let Primitive::Mesh(mesh) = &job.primitive
                && Some(mesh.texture_id) == fresh
            {
                found.add_job(job);
            }
        }
        Areas::Some(found.into_points())
    }
}

/// Collects areas, in pixels.
struct Found {
    areas: Vec<Rect>,
    size: Vec2,
    pixels_per_point: f32,
}

impl Found {
    /// Adds everything that is not the same, in the same order, in both.
    fn compare_jobs(&mut self, old: &[ClippedPrimitive], new: &[ClippedPrimitive]) {
        let (mut old, new) = without_common_ends(old, new, is_same);
        for job in new {
            let Some(place) = old.iter().position(|before| is_comparable(before, job)) else {
                self.add_job(job);
                continue;
            };
            let (gone, rest) = old.split_at(place);
            for job in gone {
                self.add_job(job);
            }
            self.compare_job(&rest[0], job);
            old = &rest[1..];
        }
        for job in old {
            self.add_job(job);
        }
    }

    fn compare_job(&mut self, old: &ClippedPrimitive, new: &ClippedPrimitive) {
        if let (Primitive::Mesh(a), Primitive::Mesh(b)) = (&old.primitive, &new.primitive) {
            let (a, b) = (triangles(a), triangles(b));
            let (a, b) = without_common_ends(&a, &b, |a, b| a == b);
            let is_paired = a.len() == b.len();
            for (number, triangle) in a.iter().enumerate() {
                if !is_paired || b[number] != *triangle {
                    self.add(bounds(triangle), new.clip_rect);
                }
            }
            for (number, triangle) in b.iter().enumerate() {
                if !is_paired || a[number] != *triangle {
                    self.add(bounds(triangle), new.clip_rect);
                }
            }
        } else {
            self.add_job(old);
            self.add_job(new);
        }
    }

    fn add_job(&mut self, job: &ClippedPrimitive) {
        match &job.primitive {
            Primitive::Mesh(mesh) => self.add(mesh.calc_bounds(), job.clip_rect),
            Primitive::Callback(_) => self.add(Rect::EVERYTHING, job.clip_rect),
        }
    }

    /// Adds an area in points, grown to whole pixels.
    fn add(&mut self, area: Rect, clip: Rect) {
        let area = area.intersect(clip);
        let to_pixels = |point: Pos2| point.to_vec2() * self.pixels_per_point;
        let min = to_pixels(area.min).floor().max(Vec2::ZERO);
        let max = to_pixels(area.max).ceil().min(self.size);
        if min.x < max.x && min.y < max.y {
            self.join(Rect::from_min_max(min.to_pos2(), max.to_pos2()));
        }
    }

    /// Adds an area in pixels; what overlaps or nearly touches becomes one.
    fn join(&mut self, mut area: Rect) {
        while let Some(number) = self.areas.iter().position(|other| {
            let overlaps = other.intersect(area).is_positive();
            overlaps || other.union(area).area() - other.area() - area.area() < WASTE
        }) {
            area = area.union(self.areas.swap_remove(number));
        }
        self.areas.push(area);
        if self.areas.len() > AREAS {
            let first = self.areas.swap_remove(0);
            let second = self.areas.swap_remove(0);
            self.join(first.union(second));
        }
    }

    fn into_points(self) -> Vec<Rect> {
        let scale = 1.0 / self.pixels_per_point;
        self.areas.into_iter().map(|area| area * scale).collect()
    }
}

/// Whether what differs in them can be told triangle by triangle.
fn is_comparable(a: &ClippedPrimitive, b: &ClippedPrimitive) -> bool {
    match (&a.primitive, &b.primitive) {
        (Primitive::Mesh(x), Primitive::Mesh(y)) => {
            a.clip_rect == b.clip_rect && x.texture_id == y.texture_id
        }
        _ => false,
    }
}

fn is_same(a: &ClippedPrimitive, b: &ClippedPrimitive) -> bool {
    match (&a.primitive, &b.primitive) {
        (Primitive::Mesh(x), Primitive::Mesh(y)) => a.clip_rect == b.clip_rect && x == y,
        _ => false,
    }
}

/// The parts of `jobs` inside `areas`, each area made black first.
pub(super) fn clipped(jobs: &[ClippedPrimitive], areas: &[Rect]) -> Vec<ClippedPrimitive> {
    let mut clipped = Vec::new();
    for area in areas {
        let mut ground = Mesh::with_texture(GROUND);
        ground.add_rect_with_uv(*area, Rect::ZERO, Color32::BLACK);
        clipped.push(ClippedPrimitive {
            clip_rect: *area,
            primitive: Primitive::Mesh(ground),
        });
        for job in jobs {
            let clip_rect = job.clip_rect.intersect(*area);
            if !clip_rect.is_positive() {
                continue;
            }
            let primitive = match &job.primitive {
                Primitive::Mesh(mesh) => {
                    let part = within(mesh, clip_rect);
                    // The renderer takes no mesh without triangles.
                    if part.is_empty() {
                        continue;
                    }
                    Primitive::Mesh(part)
                }
                callback @ Primitive::Callback(_) => callback.clone(),
            };
            clipped.push(ClippedPrimitive {
                clip_rect,
                primitive,
            });
        }
    }
    clipped
}

/// The triangles of a mesh that may touch an area; a pixel's worth around it counts, as clipping rounds.
fn within(mesh: &Mesh, area: Rect) -> Mesh {
    let area = area.expand(1.0);
    let mut part = Mesh::with_texture(mesh.texture_id);
    for triangle in triangles(mesh) {
        if bounds(&triangle).intersects(area) {
            let first = part.vertices.len() as u32;
            part.vertices.extend(triangle);
            part.indices.extend(first..first + 3);
        }
    }
    part
}

fn triangles(mesh: &Mesh) -> Vec<[Vertex; 3]> {
    let (corners, _) = mesh.indices.as_chunks::<3>();
    corners
        .iter()
        .map(|corners| corners.map(|corner| mesh.vertices[corner as usize]))
        .collect()
}

fn bounds(triangle: &[Vertex; 3]) -> Rect {
    Rect::from_points(&triangle.map(|vertex| vertex.pos))
}

/// Both without the elements that they begin and end with in common.
fn without_common_ends<'a, T>(
    a: &'a [T],
    b: &'a [T],
    is_same: impl Fn(&T, &T) -> bool,
) -> (&'a [T], &'a [T]) {
    let shorter = a.len().min(b.len());
    let front = (0..shorter)
        .find(|&number| !is_same(&a[number], &b[number]))
        .unwrap_or(shorter);
    let (a, b) = (&a[front..], &b[front..]);
    let shorter = a.len().min(b.len());
    let back = (1..=shorter)
        .find(|&number| !is_same(&a[a.len() - number], &b[b.len() - number]))
        .map_or(shorter, |number| number - 1);
    (&a[..a.len() - back], &b[..b.len() - back])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [800, 600];

    fn square(x: f32, y: f32, side: f32) -> Rect {
        Rect::from_min_size(Pos2::new(x, y), Vec2::splat(side))
    }

    fn job(clip_rect: Rect, squares: &[(Rect, Color32)]) -> ClippedPrimitive {
        let mut mesh = Mesh::default();
        for (square, colour) in squares {
            mesh.add_colored_rect(*square, *colour);
        }
        ClippedPrimitive {
            clip_rect,
            primitive: Primitive::Mesh(mesh),
        }
    }

    fn panel(colours: [Color32; 3]) -> Vec<ClippedPrimitive> {
        let [a, b, c] = colours;
        let squares = [
            (square(10.0, 10.0, 20.0), a),
            (square(300.25, 100.0, 20.5), b),
            (square(600.0, 400.0, 20.0), c),
        ];
        vec![job(square(0.0, 0.0, 700.0), &squares)]
    }

    /// Areas of the second of two frames.
    fn areas(first: &[ClippedPrimitive], second: &[ClippedPrimitive]) -> Vec<Rect> {
        let mut damage = Damage::default();
        assert_eq!(damage.take(first, SIZE, 1.0, None), Areas::All);
        match damage.take(second, SIZE, 1.0, None) {
            Areas::Some(areas) => areas,
            Areas::All => panic!("the size is the same"),
        }
    }

    #[test]
    fn only_what_changed_is_drawn_on_whole_pixels() {
        let (red, blue) = (Color32::RED, Color32::BLUE);
        let old = panel([red; 3]);
        assert!(areas(&old, &old).is_empty());
        let expected = Rect::from_min_max(Pos2::new(300.0, 100.0), Pos2::new(321.0, 121.0));
        assert_eq!(areas(&old, &panel([red, blue, red])), [expected]);
        // Two that are far apart do not drag in what lies between.
        let both = areas(&old, &panel([blue, red, blue]));
        assert_eq!(both, [square(10.0, 10.0, 20.0), square(600.0, 400.0, 20.0)]);
    }

    #[test]
    fn what_comes_goes_moves_or_changes_order_is_drawn() {
        let red = Color32::RED;
        let old = panel([red; 3]);
        let tooltip = job(square(0.0, 0.0, 700.0), &[(square(50.0, 300.0, 90.0), red)]);
        let with: Vec<_> = old.iter().cloned().chain([tooltip.clone()]).collect();
        assert_eq!(areas(&old, &with), [square(50.0, 300.0, 90.0)]);
        assert_eq!(areas(&with, &old), [square(50.0, 300.0, 90.0)]);
        // Between others that stay, and with one that changes.
        let late = job(square(0.0, 0.0, 650.0), &[(square(400.0, 20.0, 9.0), red)]);
        let last = |colour| {
            job(
                square(0.0, 0.0, 600.0),
                &[(square(500.0, 500.0, 9.0), colour)],
            )
        };
        let before = [old[0].clone(), last(red)];
        let after = [old[0].clone(), late, last(Color32::BLUE)];
        let both = [square(400.0, 20.0, 9.0), square(500.0, 500.0, 9.0)];
        assert_eq!(areas(&before, &after), both);
        assert_eq!(areas(&after, &before), both);
        let mut moved = with.clone();
        moved[1].clip_rect = square(0.0, 0.0, 100.0);
        assert!(!areas(&with, &moved).is_empty());
        let above: Vec<_> = with.iter().rev().cloned().collect();
        let swapped = areas(&with, &above);
        for place in [square(10.0, 10.0, 20.0), square(50.0, 300.0, 90.0)] {
            assert!(swapped.iter().any(|area| area.contains_rect(place)));
        }
    }

    #[test]
    fn everything_is_drawn_at_another_size_or_scale_or_when_told_and_a_fresh_picture_where_it_is() {
        let jobs = panel([Color32::RED; 3]);
        let mut damage = Damage::default();
        damage.take(&jobs, SIZE, 1.0, None);
        assert_eq!(damage.take(&jobs, [801, 600], 1.0, None), Areas::All);
        assert_eq!(damage.take(&jobs, [801, 600], 1.5, None), Areas::All);
        damage.forget();
        assert_eq!(damage.take(&jobs, [801, 600], 1.5, None), Areas::All);
        let picture = damage.take(&jobs, [801, 600], 1.5, Some(TextureId::default()));
        assert!(matches!(picture, Areas::Some(areas) if areas.len() == 1));
    }

    #[test]
    fn parts_are_the_ground_and_the_triangles_in_reach() {
        let jobs = panel([Color32::RED; 3]);
        let area = square(300.0, 100.0, 21.0);
        assert_eq!(clipped(&jobs, &[square(50.0, 50.0, 9.0)]).len(), 1);
        let parts = clipped(&jobs, &[area]);
        let indices: Vec<usize> = parts
            .iter()
            .map(|part| match &part.primitive {
                Primitive::Mesh(mesh) => mesh.indices.len(),
                Primitive::Callback(_) => 0,
            })
            .collect();
        assert_eq!(indices, [6, 6]);
        assert!(parts.iter().all(|part| part.clip_rect == area));
    }

    #[test]
    fn many_areas_become_few_that_do_not_overlap() {
        let grid = |colour| {
            let squares: Vec<_> = (0..36_u8)
                .map(|n| {
                    let (x, y) = (f32::from(n % 6) * 120.0, f32::from(n / 6) * 95.0);
                    // Those that keep their colour lie between those that change.
                    let paint = if n % 2 == 0 { colour } else { Color32::GRAY };
                    (square(x, y, 10.0), paint)
                })
                .collect();
            vec![job(square(0.0, 0.0, 800.0), &squares)]
        };
        let found = areas(&grid(Color32::RED), &grid(Color32::BLUE));
        assert!(!found.is_empty() && found.len() <= AREAS);
        for (number, area) in found.iter().enumerate() {
            for other in &found[number + 1..] {
                assert!(!area.intersect(*other).is_positive());
            }
        }
    }
}
