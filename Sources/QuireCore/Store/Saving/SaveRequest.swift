/// Everything one save writes. Values may refer to objects inserted by the same request through their temporary ids.
struct SaveRequest {
  /// A new row. A negative `id` is temporary, and within a tree of entities -1 is older than -2 and gets the smaller
  /// key. A positive one was taken from the file before.
  struct Insert {
    let entity: Entity
    let id: Int64
    /// By slot; what has no column of its own (transient, to-many) is passed over.
    var values: ContiguousArray<Value>

    /// Z_OPT of the row after the save.
    static let savedVersion: Int64 = 1
    var reference: ObjectReference { ObjectReference(root: entity.rootNumber, id: id) }
  }

  /// A changed row. With no changes it still checks and advances the version, for an object whose to-many relationships
  /// changed.
  struct Update {
    let entity: Entity
    let id: Int64
    /// Z_OPT that the object was read with.
    let expectedVersion: Int64
    /// Changed attributes and to-one relationships by slot, each slot once.
    var changes: [(slot: Int, value: Value)]

    /// Z_OPT of the row after the save.
    var savedVersion: Int64 { expectedVersion &+ 1 }
    var reference: ObjectReference { ObjectReference(root: entity.rootNumber, id: id) }
  }

  /// A row to remove, with its pairs in join tables. The caller clears references from other rows, by the delete rules.
  /// References of a to-many relationship without inverse are cleared here, as only the file knows them.
  struct Delete {
    let entity: Entity
    let id: Int64
    let expectedVersion: Int64

    var reference: ObjectReference { ObjectReference(root: entity.rootNumber, id: id) }
  }

  /// The changes of one to-many relationship of one object.
  ///
  /// Many-to-many: one side is enough, and naming both does no harm. To-many without inverse: `added` and `removed` say
  /// it all. To-many whose inverse is to-one: the inverse's values in inserts and updates decide the members, so only
  /// `order` counts here.
  struct ToManyChange {
    let relationship: Relationship
    let owner: ObjectReference
    var added: [ObjectReference] = []
    var removed: [ObjectReference] = []
    /// All members of an ordered relationship in their order; nil leaves the order, with `added` at the end.
    var order: [ObjectReference]?
  }

  var inserts: ContiguousArray<Insert> = []
  var updates: [Update] = []
  var deletes: [Delete] = []
  var toManyChanges: [ToManyChange] = []
  var authorship = Authorship()

  var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && deletes.isEmpty && toManyChanges.isEmpty }
}
