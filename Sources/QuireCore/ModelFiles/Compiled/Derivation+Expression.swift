extension Derivation {
  private static let collective = [
    "count:": "@count", "sum:": "@sum", "min:": "@min", "max:": "@max", "average:": "@avg",
  ]

  /// The expression of an archive as a model writes it: `pages.@count` for `count:(pages)`. What no attribute can be
  /// derived by is the text of the expression.
  static func text(of expression: Expression) -> String {
    switch expression {
    case .function("now", let parts) where parts.isEmpty: return "now()"
    case .function(let name, let parts) where parts.count == 1:
      guard case .keyPath(let keys) = parts[0] else { break }
      let path = keys.names.joined(separator: ".")
      return collective[name].map { "\(path).\($0)" } ?? "\(name)(\(path))"
    case .keyPath(let keys): return keys.names.joined(separator: ".")
    default: break
    }
    return expression.text
  }

  /// The same as Core Data archives it.
  var expression: Expression {
    let path = Expression.keyPath([Key](named: keys))
    switch operation {
    case .value: return path
    case .now: return .function("now", [])
    case .uppercase: return .function("uppercase:", [path])
    case .lowercase: return .function("lowercase:", [path])
    case .canonical: return .function("canonical:", [path])
    case .count: return .function("count:", [path])
    case .sum: return .function("sum:", [path])
    case .minimum: return .function("min:", [path])
    case .maximum: return .function("max:", [path])
    case .average: return .function("average:", [path])
    case .unknown:
      if let kept = (source as? ArchivedDerivation)?.expression { return kept }
      return (try? Expression.parse(text, arguments: [])) ?? .function(text.string, [])
    }
  }
}
