// The pass of a surface that is drawn. Groups 2 and 3.

@group(2) @binding(0) var image: texture_2d<f32>;
@group(2) @binding(1) var image_sampler: sampler;
@group(3) @binding(0) var<uniform> stage: Stage;
