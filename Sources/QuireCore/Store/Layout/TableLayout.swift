/// Works out the entity tables of a model: names and order of their columns (docs/file-format.md, Entities).
struct TableLayout {
  private(set) var tables: [Schema.Table] = []
  private(set) var attributeColumns: [ObjectIdentifier: String] = [:]
  private(set) var toOneColumns: [ObjectIdentifier: Schema.ToOneColumns] = [:]
  private(set) var ownerColumns: [ObjectIdentifier: Schema.OwnerColumns] = [:]

  /// To-many relationships without inverse, by the number of their destination: their columns are over there.
  private let incoming: [Int: [Relationship]]

  init(model: Model) {
    // Owners sorted by name, not by number.
    let owners = model.numberedEntities.sorted { $0.name < $1.name }
    let withoutInverse = owners.flatMap { owner in
      owner.ownRelationships.filter { $0.isToMany && $0.inverse == nil && !$0.isTransient }
        .sorted { $0.name < $1.name }
    }
    incoming = Dictionary(grouping: withoutInverse) { $0.destination.number }
    for root in model.numberedEntities where root.parent == nil { add(root) }
  }

  private mutating func add(_ root: Entity) {
    var builder = Builder()
    for entity in root.subtree {
      for attribute in entity.ownAttributes.sorted(by: { $0.name < $1.name }) where !attribute.isTransient {
        let name = builder.add(
          Names.column(attribute.name), sqlType: attribute.type.sqlType, group: attribute.type.columnGroup)
        attributeColumns[ObjectIdentifier(attribute)] = name
      }
      for relationship in entity.ownRelationships.sorted(by: { $0.name < $1.name })
      where !relationship.isToMany && !relationship.isTransient {
        addToOne(relationship, to: &builder)
      }
      for relationship in incoming[entity.number] ?? [] {
        let suffix = "\(relationship.entity.number)\(Names.upper(relationship.name))"
        ownerColumns[ObjectIdentifier(relationship)] = Schema.OwnerColumns(
          key: builder.add("Z" + suffix, group: .key),
          order: relationship.isOrdered ? builder.add("Z_FOK_" + suffix, group: .order) : nil)
      }
    }
    tables.append(Schema.Table(entity: root, name: Names.table(root.name), columns: builder.columns))
  }

  private mutating func addToOne(_ relationship: Relationship, to builder: inout Builder) {
    let destination = relationship.destination, upper = Names.upper(relationship.name)
    let key = builder.add("Z" + upper, group: .key)
    let entity = destination.hasChildren ? builder.add("Z\(destination.number)_\(upper)", group: .key) : nil
    let isOrdered = relationship.inverse.map { $0.isToMany && $0.isOrdered } ?? false
    let order = isOrdered ? builder.add("Z_FOK_" + upper, group: .order) : nil
    toOneColumns[ObjectIdentifier(relationship)] = Schema.ToOneColumns(
      key: key, destinationEntity: entity, order: order)
  }

  /// Columns of one table, kept in the order of groups, and within a group in the order of arrival.
  private struct Builder {
    private var taken: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
    private var groups: [ColumnGroup: [Schema.Column]] = [:]

    /// Returns the name the column gets: siblings that use one name get a number from 1 behind it.
    mutating func add(_ wanted: String, sqlType: String = "INTEGER", group: ColumnGroup) -> String {
      var name = wanted, number = 0
      while !taken.insert(name).inserted {
        number += 1
        name = "\(wanted)\(number)"
      }
      groups[group, default: []].append(Schema.Column(name: name, sqlType: sqlType))
      return name
    }

    var columns: [Schema.Column] {
      ["Z_ENT", "Z_OPT"].reduce(into: [Schema.Column(name: "Z_PK", sqlType: "INTEGER PRIMARY KEY")]) {
        $0.append(Schema.Column(name: $1, sqlType: "INTEGER"))
      } + ColumnGroup.allCases.flatMap { groups[$0] ?? [] }
    }
  }
}

/// Core Data groups the columns of a table; `key` holds integers, keys of relationships and their entity numbers.
enum ColumnGroup: CaseIterable {
  case key, order, floatingPoint, decimal, text, uri, uuid, transformable, binary
}

extension AttributeType {
  var sqlType: String {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .decimal: "DECIMAL"
    case .double, .float: "FLOAT"
    case .date: "TIMESTAMP"
    case .string, .uri: "VARCHAR"
    case .binary, .uuid, .transformable, .undefined, .composite: "BLOB"
    }
  }

  var columnGroup: ColumnGroup {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: .key
    case .double, .float, .date: .floatingPoint
    case .decimal: .decimal
    case .string: .text
    case .uri: .uri
    case .uuid: .uuid
    case .transformable: .transformable
    case .binary, .undefined, .composite: .binary
    }
  }
}
