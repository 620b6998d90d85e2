/// Rules for the names of entities and properties, and their names in the file.
enum Names {
  /// Names that an object already answers to in Core Data's runtime, so no property may have them there.
  private static let reserved: Set<String> = [
    "description", "debugDescription", "hash", "class", "superclass", "self", "isa", "zone", "objectID", "entity",
    "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "inserted", "updated", "deleted", "isFault",
    "fault", "faultingState", "hasChanges", "hasPersistentChangedValues", "changedValues", "observationInfo",
    "copy", "init", "new", "retain", "release", "autorelease", "dealloc", "retainCount",
  ]

  /// Words that stand for values in predicates, in any case. A property of that name would be none where it is written
  /// without a number sign before it, and nothing would say so.
  private static let values: Set<String> = [
    "nil", "null", "yes", "no", "true", "false", "self", "anykey", "truepredicate", "falsepredicate",
  ]

  /// Tables of the file that are of no entity.
  private static let tables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  static func checkEntity(_ name: String, _ origin: ModelOrigin) throws(Failure) {
    try checkIdentifier(name, what: "an entity", origin)
    if tables.contains(table(name)) {
      throw Failure(.invalidModel, "'\(name)' cannot name an entity: its table would be \(table(name)).")
    }
  }

  static func checkProperty(_ name: String, of entity: String, _ origin: ModelOrigin) throws(Failure) {
    try checkIdentifier(name, what: "a property of entity '\(entity)'", origin)
    if origin == .file { return }
    if reserved.contains(name) {
      throw Failure(
        .invalidModel,
        "'\(name)' cannot name a property of entity '\(entity)': Core Data reserves it. Choose another name.",
        about: .named(entity, name))
    }
    if values.contains(String(decoding: lower(name), as: UTF8.self)) {
      throw Failure(
        .invalidModel,
        "'\(name)' cannot name a property of entity '\(entity)': in a predicate the word stands for a value. "
          + "Choose another name.")
    }
  }

  /// ASCII only: what Core Data makes of other letters in table and column names is not known. Names of files may have
  /// them, and anything else that SQL takes for a part of a name.
  static func checkIdentifier(_ name: String, what: String, _ origin: ModelOrigin = .program) throws(Failure) {
    let letters = name.utf8
    if origin == .file {
      if !letters.isEmpty, letters.allSatisfy({ isLetter($0) || (48...57).contains($0) || $0 == 95 || $0 >= 0x80 }) {
        return
      }
      throw Failure(
        .invalidModel, "'\(name)' cannot name \(what): a name has letters, digits and underscores, at least one.")
    }
    let isIdentifier =
      letters.first.map(isLetter) == true
      && letters.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 95 }
    if !isIdentifier {
      throw Failure(
        .invalidModel,
        "'\(name)' cannot name \(what): a name is an ASCII letter followed by ASCII letters, digits and underscores.")
    }
  }

  /// The name of an index in SQL. Those that files bring may need quotes.
  static func quoted(_ name: String) -> String {
    if name.utf8.allSatisfy({ isLetter($0) || (48...57).contains($0) || $0 == 95 }) { return name }
    return "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  /// Whether two names would become the same table or column: SQLite compares them without case.
  static func areSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8) { upper($0) == upper($1) }
  }

  static func upper(_ name: String) -> String { String(decoding: name.utf8.map(upper), as: UTF8.self) }

  private static func upper(_ byte: UInt8) -> UInt8 { (97...122).contains(byte) ? byte - 32 : byte }

  /// Orders as Core Data numbers entities: without case, then by code unit.
  static func precedes(_ left: String, _ right: String) -> Bool {
    let left8 = lower(left), right8 = lower(right)
    return left8 == right8 ? left < right : left8.lexicographicallyPrecedes(right8)
  }

  static func table(_ entity: String) -> String { "Z" + upper(entity) }
  static func column(_ property: String) -> String { "Z" + upper(property) }

  private static func lower(_ name: String) -> [UInt8] {
    name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
