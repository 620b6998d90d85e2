import Synchronization

/// A reference to an object: the entity whose table holds it, and its id within that table.
///
/// Permanent ids are primary keys and positive. Temporary ones are negative and unique in the process for each store. A
/// predicate therefore never takes an unsaved object of one context for that of another.
struct ObjectReference: Hashable, Sendable {
  /// Number of the *root* entity: entities of one tree share a table, hence a range of ids.
  let root: Int
  let id: Int64

  var isTemporary: Bool { id < 0 }
}

final class ObjectReferenceBox: Sendable {
  private let root: Int
  private let id: Atomic<Int64>
  /// The UUID of the store, for an object that came from outside; what a row refers to is of the row's own.
  let store: Text?

  init(_ reference: ObjectReference, store: Text? = nil) {
    root = reference.root
    id = Atomic(reference.id)
    self.store = store
  }

  var reference: ObjectReference { ObjectReference(root: root, id: id.load(ordering: .relaxed)) }

  /// For the box that an object lends to predicates: they go on to mean that object when it is saved.
  func becomePermanent(id permanent: Int64) { id.store(permanent, ordering: .relaxed) }
}
