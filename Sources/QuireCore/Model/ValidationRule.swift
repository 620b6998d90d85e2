/// A condition that a save asks for, of an object or of one attribute of it.
struct ValidationRule: Sendable {
  /// The attribute whose value is tested; empty when it is the object.
  let key: String
  let condition: any ValidationCondition
  let message: Text
}

/// A predicate that a model keeps. Of what it is made, higher layers know.
protocol ValidationCondition: AnyObject, Sendable {
  /// Every key path that starts at the object or value under test.
  var keyPaths: [[String]] { get }
}
