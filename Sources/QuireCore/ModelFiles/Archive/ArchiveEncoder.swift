/// Writes objects as NSKeyedArchiver does. A text and a class are written once, however often they are used.
struct ArchiveEncoder {
  /// The reference to nil.
  static let null = PropertyListValue.uid(0)

  /// The classes above those that have others above them than NSObject.
  private static let ancestors: [String: [String]] = [
    "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSMutableSet": ["NSSet"],
    "NSDecimalNumber": ["NSNumber", "NSValue"],
    "NSKnownKeysDictionary1": ["NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
    "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
    "NSAttributeDescription": ["NSPropertyDescription"], "NSRelationshipDescription": ["NSPropertyDescription"],
    "NSFetchedPropertyDescription": ["NSPropertyDescription"], "NSExpressionDescription": ["NSPropertyDescription"],
    "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSFetchRequest": ["NSPersistentStoreRequest"],
    "NSComparisonPredicate": ["NSPredicate"], "NSCompoundPredicate": ["NSPredicate"],
    "NSTruePredicate": ["NSPredicate"], "NSFalsePredicate": ["NSPredicate"],
    "NSEqualityPredicateOperator": ["NSPredicateOperator"], "NSComparisonPredicateOperator": ["NSPredicateOperator"],
    "NSInPredicateOperator": ["NSPredicateOperator"], "NSBetweenPredicateOperator": ["NSPredicateOperator"],
    "NSCustomPredicateOperator": ["NSPredicateOperator"],
    "NSLikePredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSMatchingPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSSubstringPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"], "NSFunctionExpression": ["NSExpression"],
    "NSKeyPathSpecifierExpression": ["NSExpression"], "NSConstantValueExpression": ["NSExpression"],
    "NSSelfExpression": ["NSExpression"], "NSVariableExpression": ["NSExpression"],
    "NSAggregateExpression": ["NSExpression"], "NSSubqueryExpression": ["NSExpression"],
    "NSTernaryExpression": ["NSExpression"], "NSSetExpression": ["NSExpression"],
    "NSAnyKeyExpression": ["NSExpression"], "NSVariableAssignmentExpression": ["NSExpression"],
    "NSSymbolicExpression": ["NSExpression"],
  ]

  private var objects: [PropertyListValue] = [.text("$null")]
  private var texts: [String: PropertyListValue] = [:]
  private var classes: [String: PropertyListValue] = [:]

  /// A place for an object that others refer to before it is made.
  mutating func reserve() -> PropertyListValue { append(.text("$null")) }

  /// Puts an object where a place was reserved.
  mutating func set(_ place: PropertyListValue, _ className: String, _ fields: [String: PropertyListValue]) {
    var fields = fields
    fields["$class"] = reference(toClass: className)
    put(.dictionary(fields), at: place)
  }

  private mutating func put(_ value: PropertyListValue, at place: PropertyListValue) {
    guard let place = place.uid.flatMap({ Int(exactly: $0) }), objects.indices.contains(place) else { return }
    objects[place] = value
  }

  mutating func object(_ className: String, _ fields: [String: PropertyListValue]) -> PropertyListValue {
    let place = reserve()
    set(place, className, fields)
    return place
  }

  mutating func text(_ text: String) -> PropertyListValue {
    if let known = texts[text] { return known }
    let place = append(.text(text))
    texts[text] = place
    return place
  }

  /// nil for an empty one.
  mutating func optionalText(_ text: String) -> PropertyListValue { text.isEmpty ? Self.null : self.text(text) }

  /// A number, a boolean or data.
  mutating func plain(_ value: PropertyListValue) -> PropertyListValue { append(value) }

  mutating func list(_ references: [PropertyListValue], _ className: String = "NSArray") -> PropertyListValue {
    object(className, ["NS.objects": .array(references)])
  }

  mutating func dictionary(
    _ entries: [(key: String, value: PropertyListValue)], _ className: String = "NSDictionary"
  ) -> PropertyListValue {
    let keys = entries.map { text($0.key) }
    return object(className, ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.value))])
  }

  /// A value as Foundation archives it. Nil where it has no class for it: references to objects.
  mutating func value(_ value: Value) -> PropertyListValue {
    switch value {
    case .nil, .object, .external: return Self.null
    case .text(let text): return self.text(text.string)
    case .integer(let integer): return plain(.integer(integer))
    case .boolean(let flag): return plain(.boolean(flag))
    case .double(let double): return plain(.real(double))
    case .float(let float): return plain(.real(Double(float)))
    case .data(let data): return plain(.data(data))
    case .date(let seconds): return object("NSDate", ["NS.time": .real(seconds)])
    case .uuid(let bytes): return object("NSUUID", ["NS.uuidbytes": .data(bytes)])
    case .uri(let text):
      let relative = self.text(text.string)
      return object("NSURL", ["NS.base": Self.null, "NS.relative": relative])
    case .decimal(let decimal): return self.decimal(decimal)
    case .list(let list):
      let references = list.values.map { self.value($0) }
      return self.list(references)
    }
  }

  private mutating func decimal(_ decimal: Decimal) -> PropertyListValue {
    var mantissa = decimal.mantissa, bytes: [UInt8] = [], length = Int64(0)
    for unit in 0..<8 {
      bytes += [UInt8(truncatingIfNeeded: mantissa), UInt8(truncatingIfNeeded: mantissa >> 8)]
      if mantissa != 0 { length = Int64(unit + 1) }
      mantissa >>= 16
    }
    return object(
      "NSDecimalNumber",
      [
        "NS.mantissa": .data(Bytes(bytes)), "NS.mantissa.bo": .integer(1), "NS.length": .integer(length),
        "NS.exponent": .integer(Int64(decimal.exponent)), "NS.negative": .boolean(decimal.isNegative),
        "NS.compact": .boolean(true),
      ])
  }

  /// nil when a text has U+0000 in it, which no property list can have.
  func archive(of root: PropertyListValue) -> Bytes? {
    PropertyListValue.dictionary([
      "$archiver": .text("NSKeyedArchiver"), "$version": .integer(100_000), "$top": .dictionary(["root": root]),
      "$objects": .array(objects),
    ]).binary
  }

  private mutating func append(_ value: PropertyListValue) -> PropertyListValue {
    objects.append(value)
    return .uid(UInt64(objects.count - 1))
  }

  private mutating func reference(toClass name: String) -> PropertyListValue {
    if let known = classes[name] { return known }
    let names = [name] + (Self.ancestors[name] ?? []) + ["NSObject"]
    let place = append(.dictionary(["$classname": .text(name), "$classes": .array(names.map { .text($0) })]))
    classes[name] = place
    return place
  }
}

// MARK: - Copies

extension ArchiveEncoder {
  /// An object of another archive as an archive of its own, with all that it refers to. nil when it cannot be written.
  static func archive(of node: ArchiveNode, _ limit: ReadingLimit) throws(Failure) -> Bytes? {
    var encoder = ArchiveEncoder()
    guard let root = encoder.copy(node, limit) else {
      throw Failure(.invalidModel, "A default of the model refers to more objects than the file has room for.")
    }
    return encoder.archive(of: root)
  }

  /// Copies an object of another archive, with all that it refers to. nil when it goes beyond the limit.
  mutating func copy(_ node: ArchiveNode, _ limit: ReadingLimit) -> PropertyListValue? {
    var copier = ArchiveCopier()
    let root = copier.begin(node, &self)
    while let (value, place) = copier.waiting.popLast() {
      guard (try? limit.take()) != nil else { return nil }
      let copied = copier.copied(value, of: node.archive, &self)
      put(copied, at: place)
    }
    return root
  }
}

/// Where each object of another archive lies in this one. What refers to itself is copied once.
private struct ArchiveCopier {
  private var places: [UInt64: PropertyListValue] = [:]
  fileprivate var waiting: [(from: PropertyListValue, to: PropertyListValue)] = []

  mutating func begin(_ node: ArchiveNode, _ encoder: inout ArchiveEncoder) -> PropertyListValue {
    let place = encoder.reserve()
    if let old = node.place { places[UInt64(old)] = place }
    waiting.append((node.value, place))
    return place
  }

  mutating func copied(
    _ value: PropertyListValue, of archive: KeyedArchive, _ encoder: inout ArchiveEncoder
  ) -> PropertyListValue {
    switch value {
    case .uid(let uid):
      if let known = places[uid] { return known }
      guard let found = archive.node(value) else { return ArchiveEncoder.null }
      return begin(found, &encoder)
    case .array(let values):
      guard archive.takes(objects: values.count) else { return ArchiveEncoder.null }
      var all: [PropertyListValue] = []
      for value in values { all.append(copied(value, of: archive, &encoder)) }
      return .array(all)
    case .dictionary(let fields):
      var all: [String: PropertyListValue] = [:]
      for (key, value) in fields.sorted(by: { $0.key < $1.key }) { all[key] = copied(value, of: archive, &encoder) }
      return .dictionary(all)
    case .text(let text): return archive.takes(bytes: text.utf8.count) ? value : ArchiveEncoder.null
    case .data(let data): return archive.takes(bytes: data.count) ? value : ArchiveEncoder.null
    default: return value
    }
  }
}
