/// The R-Tree of a fetch index as Core Data spells it: a virtual table, and the triggers that keep it. Each value is
/// both ends of its range.
struct RTree {
  /// After these a trigger runs.
  enum Event: String, CaseIterable {
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"
  }

  let name: String
  let table: String
  let columns: [String]

  var statements: [String] { [declaration] + Event.allCases.map { trigger(after: $0) } }

  var declaration: String {
    let declared = columns.map { ", \($0)_MIN FLOAT, \($0)_MAX FLOAT" }.joined()
    return "CREATE VIRTUAL TABLE \(tree) USING RTREE (Z_PK INTEGER PRIMARY KEY\(declared))"
  }

  /// What its triggers would have written for the rows that are there.
  var filling: String {
    let named = columns.map { ", \($0)_MIN, \($0)_MAX" }.joined(), values = columns.map { ", \($0), \($0)" }.joined()
    return "INSERT INTO \(tree) (Z_PK\(named)) SELECT Z_PK\(values) FROM \(table)"
  }

  /// A temporary one belongs to the connection and is not in the file.
  func trigger(after event: Event, isTemporary: Bool = false) -> String {
    let named = columns.map { ", \($0)_MIN, \($0)_MAX" }.joined()
    // The blank before the first comma is Core Data's.
    let values = columns.enumerated().map { place, column in
      ", NEW.\(column)\(place == 0 ? " ," : ", ")NEW.\(column)"
    }.joined()
    let row = "INTO \(tree) (Z_PK\(named)) VALUES (NEW.Z_PK\(values))"
    let action =
      switch event {
      case .insert: "INSERT OR REPLACE \(row)"
      case .update: "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT \(row)"
      case .delete: "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK"
      }
    return "CREATE \(isTemporary ? "TEMP " : "")TRIGGER \(Names.quoted("\(name)_\(event.rawValue)")) "
      + "AFTER \(event.rawValue) ON \(table) FOR EACH ROW BEGIN \(action) ; END"
  }

  /// Statements that run each trigger that may write rows of the tree after this event.
  func probes(of event: Event) -> [String] {
    switch event {
    case .insert: ["INSERT INTO \(table) DEFAULT VALUES"]
    case .update: columns.map { "UPDATE \(table) SET \($0) = NULL" }
    case .delete: ["DELETE FROM \(table)"]
    }
  }

  private var tree: String { Names.quoted(name) }
}

extension Schema {
  /// The R-Trees that the model says how to keep, whether a file has them or not.
  ///
  /// Besides fetch indexes these are those of transient attributes whose user info names the attributes that a place is
  /// made of. Core Data makes them where the names are a list. Where they are a text, an application makes its own.
  func rTrees() -> [RTree] {
    model.numberedEntities.flatMap { entity in
      let indexes = entity.fetchIndexes.filter { $0.kind == .rTree } + entity.indexesOfPlaces(andOfApplications: true)
      // One that cannot be made is not in a file either.
      return indexes.compactMap { index in
        let sql = FetchIndexSQL(index: index, entity: entity, schema: self)
        return try? sql.rTree(named: "Z_RT_\(entity.name)_\(index.name)", on: table(of: entity))
      }
    }
  }
}

extension Entity {
  private static let componentsOfPlace: Text = "_NSLocationAttributeDerivedComponents"

  /// The R-Trees that the user infos of its own transient attributes ask for.
  func indexesOfPlaces(andOfApplications: Bool = false) -> [FetchIndex] {
    ownAttributes.compactMap { attribute in
      guard attribute.isTransient else { return nil }
      var names = attribute.userInfo.list(Entity.componentsOfPlace)?.map(\.string)
      if names == nil, andOfApplications, let text = attribute.userInfo.text(Entity.componentsOfPlace) {
        names = text.string.split(separator: ",").map { name in
          String(decoding: name.utf8.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
      }
      guard let names, !names.isEmpty else { return nil }
      return FetchIndex(
        name: attribute.nameText, kind: .rTree, elements: names.map { FetchIndex.Element(.property($0)) })
    }
  }
}
