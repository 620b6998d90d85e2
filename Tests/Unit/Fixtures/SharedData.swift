import FoundationEssentials

@testable import QuireCore

/// Cases from public test suites, which are not part of the repository: beside it, or where QUIRE_SHARED says.
enum SharedData {
  static let predicates: URL = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let shared = ProcessInfo.processInfo.environment["QUIRE_SHARED"].map { URL(filePath: $0) }
    return (shared ?? root.deletingLastPathComponent().appending(path: "shared"))
      .appending(path: "data/predicates")
  }()

  /// Whether the predicate cases are there. Says so once when they are not: `script/test` repeats the line at its end.
  static let isThere: Bool = {
    if FileManager.default.fileExists(atPath: predicates.appending(path: "eval.json").path()) { return true }
    let count = PredicateCaseTests.counts.values.reduce(0, +)
    print("skipped: \(count) predicate cases in Swift: no \(predicates.path())")
    return false
  }()

  static func cases(_ name: String) throws -> [[String: JSON]] {
    let data = try Data(contentsOf: predicates.appending(path: name))
    return try JSONDecoder().decode([[String: JSON]].self, from: data)
  }
}

/// JSON in which numbers and booleans are told apart.
enum JSON: Decodable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case text(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let boolean = try? container.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let double = try? container.decode(Double.self) {
      self = .double(double)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let array = try? container.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var array: [JSON]? { if case .array(let array) = self { array } else { nil } }
  var object: [String: JSON]? { if case .object(let object) = self { object } else { nil } }

  /// The number, with fraction or without, of a value such as `{"$float": 1}`.
  private var double: Double {
    switch self {
    case .integer(let integer): Double(integer)
    case .double(let double): double
    default: .nan
    }
  }

  /// The value that the notation of the cases means; objects of any other form are dictionaries.
  var item: Item {
    switch self {
    case .null: return .nil
    case .boolean(let boolean): return .value(.boolean(boolean))
    case .integer(let integer): return .value(.integer(integer))
    case .double(let double): return .value(.double(double))
    case .text(let text): return .value(.text(Text(text)))
    case .array(let array): return .list(array.map(\.item))
    case .object(let object):
      guard object.count == 1, let (key, content) = object.first, key.hasPrefix("$") else {
        return .dictionary(ItemDictionary(object.mapValues(\.item)))
      }
      let text = content.text ?? ""
      switch key {
      case "$null": return .nil
      case "$date": return .value(.date(JSON.seconds(text)))
      case "$date_ref": return .value(.date(content.double))
      case "$data": return .value(.data(Bytes(Data(base64Encoded: text) ?? Data())))
      case "$decimal": return Decimal(text.utf8).map { .value(.decimal($0)) } ?? .nil
      case "$float": return .value(.float(Float(content.double)))
      case "$uuid":
        let uuid = UUID(uuidString: text)?.uuid
        return uuid.map { uuid in .value(.uuid(withUnsafeBytes(of: uuid) { Bytes(Array($0)) })) } ?? .nil
      case "$url": return .value(.uri(Text(text)))
      case "$set": return content.item
      default: return .value(.text(Text("\(key) \(text)")))
      }
    }
  }

  private static func seconds(_ text: String) -> Double {
    let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
    return styles.lazy.compactMap { try? $0.parse(text).timeIntervalSinceReferenceDate }.first ?? .nan
  }
}

extension Item {
  /// As an argument of a format; nil for what has keys, which a format cannot hold.
  var argument: QuireCore.Value? {
    switch self {
    case .value(let value): return value
    case .subject(let subject): return subject.identity
    case .dictionary: return nil
    case .list(let items):
      let values = items.map(\.argument)
      return values.contains { $0 == nil } ? nil : .list(values.compactMap { $0 })
    }
  }
}
