/// What messages call an input.
enum InputName: ExpressibleByStringLiteral, CustomStringConvertible {
  case parameter(StaticString)
  /// One of the values of an array, or of a column, counted from 0.
  case element(StaticString, Int)
  case cell(String, Int)
  case variable(String)
  /// The value for a property that the caller named.
  case property(Property)
  /// The value for a key that the caller named, of which nothing is known yet.
  case key(String)

  init(stringLiteral name: StaticString) { self = .parameter(name) }

  var description: String {
    switch self {
    case .parameter(let name): "\(name)"
    case .element(let name, let place): "\(name)[\(place)]"
    case .cell(let name, let place): "\(name)[\(place)]"
    case .variable(let name): "$\(name)"
    case .property(let property): property.qualifiedName
    case .key(let name): name
    }
  }
}
