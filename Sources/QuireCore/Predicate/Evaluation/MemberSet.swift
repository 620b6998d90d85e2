/// The constants of an IN list, hashed where that is sure to agree with `==`.
struct MemberSet {
  private var integers: Set<Int64> = []
  private var texts: Set<Text> = []
  private var objects: Set<ObjectReference> = []
  /// Their ids become permanent while the set is in use.
  private var unsavedObjects: [ObjectReferenceBox] = []
  /// Everything else is compared one by one.
  private var others: [Value] = []
  private var hasNil = false
  private let folding: TextFolding

  /// nil when some item is a list, and for a locale, which decides for itself what is equal.
  init?(_ items: [Item], _ folding: TextFolding, _ folder: TextFolder) {
    if folding.contains(.byLocale) { return nil }
    self.folding = folding
    for item in items {
      guard let value = item.scalar else { return nil }
      switch value {
      case .nil: hasNil = true
      case .integer(let integer): integers.insert(integer)
      case .boolean(let boolean): integers.insert(boolean ? 1 : 0)
      case .text(let text), .uri(let text): texts.insert(folder.fold(text, folding))
      case .object(let box):
        if box.reference.isTemporary { unsavedObjects.append(box) } else { objects.insert(box.reference) }
      default: others.append(value.folded(folding, with: folder))
      }
    }
  }

  func contains(_ value: Value, _ folder: TextFolder) -> Bool {
    switch value {
    case .nil: return hasNil
    case .integer(let integer):
      if integers.contains(integer) { return true }
    case .boolean(let boolean):
      if integers.contains(boolean ? 1 : 0) { return true }
    case .text(let text), .uri(let text): return texts.contains(folder.fold(text, folding))
    case .object(let box):
      return objects.contains(box.reference) || unsavedObjects.contains { $0.reference == box.reference }
    case .double, .float, .decimal:
      if containsInteger(equalTo: value) { return true }
    default: break
    }
    if others.isEmpty { return false }
    let folded = value.folded(folding, with: folder)
    return others.contains { Value.areEqual(folded, $0) }
  }

  private func containsInteger(equalTo value: Value) -> Bool {
    if integers.isEmpty { return false }
    switch value {
    case .float: return integers.contains { Value.areEqual(value, .integer($0)) }
    default:
      guard let double = value.number?.double, let integer = Int64(exactly: double) else { return false }
      return integers.contains(integer)
    }
  }
}
