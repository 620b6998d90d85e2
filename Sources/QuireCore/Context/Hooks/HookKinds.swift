/// Points in the life of an object at which a program is called.
struct HookKinds: OptionSet, Sendable {
  let rawValue: UInt16

  static let awakeFromInsert = HookKinds(rawValue: 1)
  static let awakeFromFetch = HookKinds(rawValue: 2)
  static let prepareForDeletion = HookKinds(rawValue: 4)
  static let willSave = HookKinds(rawValue: 8)
  static let validate = HookKinds(rawValue: 16)
  static let didSave = HookKinds(rawValue: 32)
  static let willTurnIntoFault = HookKinds(rawValue: 64)
  static let didTurnIntoFault = HookKinds(rawValue: 128)
  static let awakeFromSnapshot = HookKinds(rawValue: 256)
}
