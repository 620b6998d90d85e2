@testable import QuireCore

extension ManagedObject {
  /// Follows a key path through to-one relationships.
  func value(atKeyPath names: [String]) throws -> Value {
    try value(at: ResolvedKeyPath(names, of: entity, for: .column))
  }
}
