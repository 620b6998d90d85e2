@testable import QuireCore

// Objects of tests, written as literals: ["name": "Ada", "ages": [1, 2]].

extension Item: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral text: String) { self = .value(.text(Text(text))) }
  public init(integerLiteral integer: Int64) { self = .value(.integer(integer)) }
  public init(floatLiteral double: Double) { self = .value(.double(double)) }
  public init(booleanLiteral boolean: Bool) { self = .value(.boolean(boolean)) }
  public init(nilLiteral: ()) { self = .value(.nil) }
  public init(arrayLiteral items: Item...) { self = .list(items) }
  public init(dictionaryLiteral items: (String, Item)...) {
    self = .dictionary(ItemDictionary(Dictionary(items) { _, last in last }))
  }
}
