// The map's BSP tree. Group 1.

struct TreeNode {
    normal: vec3f,
    distance: f32,
    // In front and behind: a node's number, or −1 − a leaf's.
    children: array<i32, 2>,
    pad_a: u32,
    pad_b: u32,
}

// Cluster and area of a leaf; −1 for none.
struct TreeLeaf {
    cluster: i32,
    area: i32,
}

@group(1) @binding(6) var<storage, read> tree_nodes: array<TreeNode>;
@group(1) @binding(7) var<storage, read> tree_leafs: array<TreeLeaf>;

// Deeper than any tree of a compiler; the bound stops a circle.
const TREE_DEPTH = 4096u;

// The leaf that holds a point, which must be below `root`: a child as in `children`.
fn leaf_below(root: i32, point: vec3f) -> TreeLeaf {
    var child = root;
    for (var i = 0u; i < TREE_DEPTH && child >= 0; i++) {
        let is_behind = dot(tree_nodes[child].normal, point) < tree_nodes[child].distance;
        child = tree_nodes[child].children[u32(is_behind)];
    }
    if child >= 0 {
        return TreeLeaf(-1, -1);
    }
    return tree_leafs[-1 - child];
}
