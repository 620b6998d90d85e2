/// Makes pages: values of objects where the context has them, of stored rows where it does not. Showing a window of a
/// list thus makes no objects.
struct PageReader {
  private let context: Context
  let entity: Entity
  private let paths: [ResolvedKeyPath]

  /// No `keys` for all stored attributes of `entity`.
  init(entity: Entity, keys: [String], context: Context) throws(Failure) {
    self.context = context
    self.entity = entity
    var paths: [ResolvedKeyPath] = []
    for key in keys {
      paths.append(try ResolvedKeyPath(FetchRequest.split(keyPath: key), of: entity, for: .column))
    }
    for path in paths where (path.last as? Attribute)?.type == .undefined {
      throw Failure(
        .invalidArgument, "'\(path.last.qualifiedName)' has the type Undefined, for which there is no column.",
        about: .property(path.last))
    }
    self.paths = keys.isEmpty ? ObjectList.attributePaths(of: entity) : paths
  }

  /// Whether some values are those of related objects.
  var reachesRelated: Bool { paths.contains { !$0.relationships.isEmpty } }

  /// Reads the rows with these ids in their order, without values in between, where all paths are columns of the store.
  /// False, and nothing is read, where they are not.
  func readColumns(
    _ ids: [Int64], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    if context.source.holdsObjects { return false }
    return try context.source.moment.read(paths.map(\.last), root: entity.root, ids: ids, body)
  }

  /// The page of these rows, none of which is an object with values, where that takes one scan in passing; nil where
  /// `readColumns` has to find out.
  func page(ofStored ids: [Int64], nulSeparated: Bool) throws(Failure) -> Page? {
    if context.source.holdsObjects { return nil }
    guard let range = ids.denseRange else { return nil }
    var values = Builders(self, rowCount: ids.count)
    var next = 0
    let isRead = try context.source.moment.readInPassing(paths.map(\.last), root: entity.root, range: range) {
      (row) throws(Failure) in
      let id = row.id
      if next == ids.count || id < ids[next] { return true }
      // Of a row that is gone `readColumns` tells.
      if id > ids[next] { return false }
      next += 1
      return try values.append(row)
    }
    return isRead && next == ids.count ? try values.page(nulSeparated: nulSeparated) : nil
  }

  /// The page of all rows that answer a plan, in one statement: values of objects where the context has them. nil
  /// where that takes more than a statement.
  func page(of plan: FetchPlan, nulSeparated: Bool) throws(Failure) -> Page? {
    if context.source.holdsObjects || reachesRelated { return nil }
    let properties = paths.map(\.last)
    if plan.sort.isEmpty, let page = try page(of: plan, properties, inPassing: true, nulSeparated) { return page }
    return try page(of: plan, properties, inPassing: false, nulSeparated)
  }

  private func page(
    of plan: FetchPlan, _ properties: [Property], inPassing: Bool, _ nulSeparated: Bool
  ) throws(Failure) -> Page? {
    var values = Builders(self, rowCount: 0)
    let root = entity.rootNumber, hasObjects = !context.table.isEmpty
    var last: Int64 = 0
    let isRead = try context.source.moment.readRows(plan, properties, inPassing: inPassing) {
      (row) throws(Failure) in
      let id = row.id
      if inPassing {
        // SQLite would order rows that the scan wants, and it wants none.
        if id <= last { return false }
        last = id
      }
      values.rowCount += 1
      if hasObjects, let object = context.registeredObject(ObjectReference(root: root, id: id)), !object.isFault,
        object.state != .gone
      {
        try values.append(object)
        return true
      }
      return try values.append(row)
    }
    return isRead ? try values.page(nulSeparated: nulSeparated) : nil
  }

  /// The rows with these ids, by id.
  func stored(_ ids: [Int64]) throws(Failure) -> [Int64: Row] {
    if ids.isEmpty { return [:] }
    return Dictionary(
      try context.source.rows(root: entity.root, ids: ids).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  struct Builders {
    private let reader: PageReader
    var rowCount: Int
    private var columns: [ColumnBuilder]

    init(_ reader: PageReader, rowCount: Int) {
      self.reader = reader
      self.rowCount = rowCount
      columns = reader.paths.map { ColumnBuilder(name: Text($0.text), kind: .init(of: $0.last), capacity: rowCount) }
    }

    /// A row of a scan; false where it is seen in passing and cannot be read so.
    @inline(__always)
    mutating func append(_ row: any RowScan) throws(Failure) -> Bool { try row.append(to: &columns) }

    /// All rows, column by column. Related objects are read together.
    mutating func append(_ objects: [ManagedObject]) throws(Failure) {
      let ways = reader.paths.map(\.relationships).filter { !$0.isEmpty }
      let related = ways.isEmpty ? [] : try reader.context.prefetch(ways, from: objects)
      defer { withExtendedLifetime(related) {} }
      for (place, path) in reader.paths.enumerated() {
        for object in objects { columns[place].append(try object.value(at: path, isShown: true)) }
      }
    }

    mutating func append(_ object: ManagedObject) throws(Failure) {
      for (index, path) in reader.paths.enumerated() {
        columns[index].append(try object.value(at: path, isShown: true))
      }
    }

    mutating func append(_ row: Row) throws(Failure) {
      for (index, path) in reader.paths.enumerated() { columns[index].append(try row.values[path.last.slot].inPlace()) }
    }

    func page(nulSeparated: Bool) throws(Failure) -> Page {
      Page(
        rowCount: rowCount,
        columns: try columns.map { (column) throws(Failure) in try column.column(nulSeparated: nulSeparated) })
    }
  }
}

extension Column.Kind {
  /// The kind of column that holds a property's values.
  init(of property: Property) {
    guard let attribute = property as? Attribute else {
      self = .objectID
      return
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .double, .float: self = .double
    case .date: self = .date
    case .decimal: self = .decimal
    case .string: self = .text
    case .uri: self = .uri
    case .uuid: self = .uuid
    case .binary, .transformable, .undefined, .composite: self = .data
    }
  }
}
