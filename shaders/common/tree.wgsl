// The map's BSP tree. Group 1.

struct TreeNode {
    normal: vec3f,
    distance: f32,
    // In front and behind: a node's number, or −1 − a leaf's.
    front: i32,
    back: i32,
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

fn leaf_at(point: vec3f) -> TreeLeaf {
    var child = 0;
    for (var i = 0u; i < TREE_DEPTH && child >= 0; i++) {
        let node = tree_nodes[child];
        child = select(node.front, node.back, dot(node.normal, point) < node.distance);
    }
    if child >= 0 {
        return TreeLeaf(-1, -1);
    }
    return tree_leafs[-1 - child];
}
