/// Ordered sequences of weighted nodes that answer "how many nodes, and how much weight, before
/// this one" and its inverse in O(log n). One arena holds the nodes of any number of sequences; the
/// caller keeps the root of each.
///
/// The sequences are treaps with parent links: a node's handle never changes while the node lives,
/// so others may hold it. Payloads stay with the caller, in arrays indexed by handle.
struct CountedForest {
  typealias Handle = Int32

  static let none: Handle = -1

  struct Node {
    var left = CountedForest.none
    var right = CountedForest.none
    var parent = CountedForest.none
    /// No child's priority exceeds its parent's; random, which keeps the tree flat whatever the
    /// order of edits.
    var priority: UInt32
    var weight: Int
    /// Of the node and everything below it.
    var totalWeight: Int
    var totalCount = 1
  }

  var nodes = ContiguousArray<Node>()
  var freed: [Handle] = []
  private var randomState: UInt32 = 0x9E37_79B9

  // MARK: Reading

  func count(of root: Handle) -> Int { root < 0 ? 0 : nodes[Int(root)].totalCount }
  func weight(of root: Handle) -> Int { root < 0 ? 0 : nodes[Int(root)].totalWeight }
  func ownWeight(of node: Handle) -> Int { nodes[Int(node)].weight }

  func first(of root: Handle) -> Handle {
    var node = root
    while node >= 0, nodes[Int(node)].left >= 0 { node = nodes[Int(node)].left }
    return node
  }

  func last(of root: Handle) -> Handle {
    var node = root
    while node >= 0, nodes[Int(node)].right >= 0 { node = nodes[Int(node)].right }
    return node
  }

  func next(after node: Handle) -> Handle {
    if nodes[Int(node)].right >= 0 { return first(of: nodes[Int(node)].right) }
    var child = node
    var parent = nodes[Int(node)].parent
    while parent >= 0, nodes[Int(parent)].right == child {
      child = parent
      parent = nodes[Int(parent)].parent
    }
    return parent
  }

  func previous(before node: Handle) -> Handle {
    if nodes[Int(node)].left >= 0 { return last(of: nodes[Int(node)].left) }
    var child = node
    var parent = nodes[Int(node)].parent
    while parent >= 0, nodes[Int(parent)].left == child {
      child = parent
      parent = nodes[Int(parent)].parent
    }
    return parent
  }

  /// How many nodes, and how much weight, stand before `node` in its sequence.
  func rank(of node: Handle) -> (position: Int, weight: Int) {
    var position = count(of: nodes[Int(node)].left)
    var total = weight(of: nodes[Int(node)].left)
    var child = node
    var parent = nodes[Int(node)].parent
    while parent >= 0 {
      let above = nodes[Int(parent)]
      if above.right == child {
        position += count(of: above.left) + 1
        total += weight(of: above.left) + above.weight
      }
      child = parent
      parent = above.parent
    }
    return (position, total)
  }

  /// The node with `position` nodes before it; none when there are not so many.
  func node(at position: Int, in root: Handle) -> Handle {
    guard position >= 0, position < count(of: root) else { return CountedForest.none }
    var node = root
    var position = position
    while node >= 0 {
      let before = count(of: nodes[Int(node)].left)
      if position == before { return node }
      if position < before {
        node = nodes[Int(node)].left
      } else {
        position -= before + 1
        node = nodes[Int(node)].right
      }
    }
    return node
  }

  /// The node in which the unit of weight number `offset` lies, and how deep in it; none beyond the
  /// end.
  func node(containing offset: Int, in root: Handle) -> (node: Handle, offset: Int) {
    guard offset >= 0, offset < weight(of: root) else { return (CountedForest.none, 0) }
    var node = root
    var offset = offset
    while node >= 0 {
      let before = weight(of: nodes[Int(node)].left)
      let own = nodes[Int(node)].weight
      if offset < before {
        node = nodes[Int(node)].left
      } else if offset < before + own {
        return (node, offset - before)
      } else {
        offset -= before + own
        node = nodes[Int(node)].right
      }
    }
    return (node, 0)
  }

  /// The last node that satisfies `belongsBefore`, which must hold for a prefix of the sequence and
  /// no more.
  func last(in root: Handle, where belongsBefore: (Handle) -> Bool) -> Handle {
    var found = CountedForest.none
    var node = root
    while node >= 0 {
      if belongsBefore(node) {
        found = node
        node = nodes[Int(node)].right
      } else {
        node = nodes[Int(node)].left
      }
    }
    return found
  }

  // MARK: Editing

  private mutating func nextPriority() -> UInt32 {
    randomState ^= randomState << 13
    randomState ^= randomState >> 17
    randomState ^= randomState << 5
    return randomState
  }

  /// A new node that is in no sequence yet.
  mutating func allocate(weight: Int) -> Handle {
    assert(weight >= 0)
    let node = Node(priority: nextPriority(), weight: weight, totalWeight: weight)
    if let handle = freed.popLast() {
      nodes[Int(handle)] = node
      return handle
    }
    nodes.append(node)
    return Handle(nodes.count - 1)
  }

  /// Puts an allocated node right after `previous`, or first when that is none.
  mutating func insert(_ node: Handle, after previous: Handle, root: inout Handle) {
    assert(nodes[Int(node)].parent < 0 && nodes[Int(node)].totalCount == 1, "The node is in a sequence already.")
    assert(root < 0 || nodes[Int(root)].parent < 0, "The root is not at the top.")
    guard root >= 0 else {
      root = node
      return
    }
    if previous >= 0, nodes[Int(previous)].right < 0 {
      nodes[Int(previous)].right = node
      nodes[Int(node)].parent = previous
    } else {
      let next = first(of: previous < 0 ? root : nodes[Int(previous)].right)
      nodes[Int(next)].left = node
      nodes[Int(node)].parent = next
    }
    addUpwards(from: nodes[Int(node)].parent, weight: nodes[Int(node)].weight, count: 1)
    while nodes[Int(node)].parent >= 0,
      nodes[Int(node)].priority > nodes[Int(nodes[Int(node)].parent)].priority
    {
      rotateUp(node)
    }
    if nodes[Int(node)].parent < 0 { root = node }
  }

  /// Makes a sequence of new nodes with these weights, whose handles follow each other. Returns its root.
  @_optimize(speed)
  mutating func makeSequence(_ weights: some Collection<Int>) -> Handle {
    if weights.count == 1, let weight = weights.first {
      nodes.append(Node(priority: nextPriority(), weight: weight, totalWeight: weight))
      return Handle(nodes.count - 1)
    }
    // Often the only sequence, and then no memory is left over.
    if nodes.isEmpty { nodes.reserveCapacity(weights.count) }
    var spine = ContiguousArray<SpineNode>()
    for weight in weights {
      var node = SpineNode(handle: Handle(nodes.count), priority: nextPriority(), weight: weight)
      var below = Subtree()
      while let last = spine.last, last.priority < node.priority {
        spine.removeLast()
        let isTop = spine.last.map { $0.priority >= node.priority } ?? true
        below = close(last, below, isTop ? node.handle : spine[spine.count - 1].handle)
      }
      node.left = below
      nodes.append(Node(priority: node.priority, weight: weight, totalWeight: weight))
      spine.append(node)
    }
    var below = Subtree()
    while let last = spine.popLast() { below = close(last, below, spine.last?.handle ?? CountedForest.none) }
    return below.root
  }

  mutating func reserveCapacity(_ count: Int) { nodes.reserveCapacity(count) }

  private struct Subtree {
    var root = CountedForest.none
    var weight = 0
    var count = 0
  }

  /// A node on the way from the root of a sequence that is being made to its last node.
  private struct SpineNode {
    let handle: Handle
    let priority: UInt32
    let weight: Int
    var left = Subtree()
  }

  /// Writes down a node to which nothing is added any more, and returns it with all below it.
  private mutating func close(_ node: SpineNode, _ right: Subtree, _ parent: Handle) -> Subtree {
    let all = Subtree(
      root: node.handle, weight: node.left.weight + node.weight + right.weight,
      count: node.left.count + 1 + right.count)
    nodes[Int(node.handle)] = Node(
      left: node.left.root, right: right.root, parent: parent, priority: node.priority, weight: node.weight,
      totalWeight: all.weight, totalCount: all.count)
    return all
  }

  /// Takes the node out and frees its handle.
  mutating func remove(_ node: Handle, root: inout Handle) {
    while true {
      let left = nodes[Int(node)].left
      let right = nodes[Int(node)].right
      guard left >= 0 || right >= 0 else { break }
      let leftWins =
        right < 0 || (left >= 0 && nodes[Int(left)].priority > nodes[Int(right)].priority)
      let child = leftWins ? left : right
      rotateUp(child)
      if nodes[Int(child)].parent < 0 { root = child }
    }
    let parent = nodes[Int(node)].parent
    if parent < 0 {
      root = CountedForest.none
    } else {
      if nodes[Int(parent)].left == node {
        nodes[Int(parent)].left = CountedForest.none
      } else {
        nodes[Int(parent)].right = CountedForest.none
      }
      addUpwards(from: parent, weight: -nodes[Int(node)].weight, count: -1)
    }
    freed.append(node)
  }

  mutating func add(_ weight: Int, to node: Handle) {
    nodes[Int(node)].weight += weight
    assert(nodes[Int(node)].weight >= 0)
    addUpwards(from: node, weight: weight, count: 0)
  }

  private mutating func addUpwards(from node: Handle, weight: Int, count: Int) {
    var node = node
    while node >= 0 {
      nodes[Int(node)].totalWeight += weight
      nodes[Int(node)].totalCount += count
      node = nodes[Int(node)].parent
    }
  }

  private mutating func rotateUp(_ node: Handle) {
    let parent = nodes[Int(node)].parent
    let grandparent = nodes[Int(parent)].parent
    let inner: Handle
    if nodes[Int(parent)].left == node {
      inner = nodes[Int(node)].right
      nodes[Int(parent)].left = inner
      nodes[Int(node)].right = parent
    } else {
      inner = nodes[Int(node)].left
      nodes[Int(parent)].right = inner
      nodes[Int(node)].left = parent
    }
    if inner >= 0 { nodes[Int(inner)].parent = parent }
    nodes[Int(parent)].parent = node
    nodes[Int(node)].parent = grandparent
    if grandparent >= 0 {
      if nodes[Int(grandparent)].left == parent {
        nodes[Int(grandparent)].left = node
      } else {
        nodes[Int(grandparent)].right = node
      }
    }
    sumUp(parent)
    sumUp(node)
  }

  private mutating func sumUp(_ node: Handle) {
    let own = nodes[Int(node)]
    nodes[Int(node)].totalWeight = own.weight + weight(of: own.left) + weight(of: own.right)
    nodes[Int(node)].totalCount = 1 + count(of: own.left) + count(of: own.right)
  }
}
