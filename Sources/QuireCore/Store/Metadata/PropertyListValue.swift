/// A property list, or a part of one. Text cannot have U+0000 in it, which libplist ends texts at.
enum PropertyListValue: Equatable, Sendable {
  case dictionary([String: PropertyListValue])
  case array([PropertyListValue])
  case text(String)
  case data(Bytes)
  case integer(Int64)
  /// An integer above those.
  case largeInteger(UInt64)
  case real(Double)
  case boolean(Bool)
  /// Seconds since 2001.
  case date(Double)
  /// The reference of a keyed archive to one of its objects.
  case uid(UInt64)
}

// MARK: - Parts: nil when the list is something else

extension PropertyListValue {
  var dictionary: [String: PropertyListValue]? { if case .dictionary(let found) = self { found } else { nil } }
  var array: [PropertyListValue]? { if case .array(let found) = self { found } else { nil } }
  var text: String? { if case .text(let found) = self { found } else { nil } }
  var data: Bytes? { if case .data(let found) = self { found } else { nil } }
  var integer: Int64? { if case .integer(let found) = self { found } else { nil } }
  var uid: UInt64? { if case .uid(let found) = self { found } else { nil } }

  subscript(key: String) -> PropertyListValue? { dictionary?[key] }
}
