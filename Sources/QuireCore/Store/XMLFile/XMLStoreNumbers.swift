/// The numbers that objects have in an XML store, where all entities count together.
struct XMLStoreNumbers {
  private let kept: Set<Int64>
  /// By root entity and key, where keys of several tables are the same.
  private let renumbered: [Int: [Int64: Int64]]?
  /// The highest one.
  let last: Int64

  /// The first object of a store of Core Data has the number after this.
  static let beforeFirst: Int64 = 101

  /// Keys are kept where each is in one table alone, as in every store that was XML before. Otherwise all objects are
  /// numbered anew, in the order of entities and keys.
  init(schema: Schema, on connection: Connection) throws(Failure) {
    var kept: Set<Int64> = [], isUnique = true, last: Int64 = 0
    for table in schema.tables {
      let select = try connection.statement("SELECT Z_PK FROM \(table.name)")
      try select.forEachInteger { id in
        if id < 1 || !kept.insert(id).inserted { isUnique = false }
        last = max(last, id)
      }
    }
    if isUnique {
      (self.kept, renumbered, self.last) = (kept, nil, last)
      return
    }
    var renumbered: [Int: [Int64: Int64]] = [:]
    last = XMLStoreNumbers.beforeFirst
    for table in schema.tables {
      var numbers: [Int64: Int64] = [:]
      let select = try connection.statement("SELECT Z_PK FROM \(table.name) ORDER BY Z_PK")
      try select.forEachInteger { id in
        last += 1
        numbers[id] = last
      }
      renumbered[table.entity.number] = numbers
    }
    (self.kept, self.renumbered, self.last) = ([], renumbered, last)
  }

  var isRenumbered: Bool { renumbered != nil }

  /// nil where there is no such object.
  func number(of id: Int64, root: Int) -> Int64? {
    if let renumbered { return renumbered[root]?[id] }
    return kept.contains(id) ? id : nil
  }
}
