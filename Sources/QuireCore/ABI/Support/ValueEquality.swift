import CQuire

/// Lists within lists deeper than this are not looked into.
private let deepestComparison = 64

@_cdecl("quire_value_equal") @implementation
public func quire_value_equal(_ left: UnsafePointer<quire_value>?, _ right: UnsafePointer<quire_value>?) -> Bool {
  guard let left, let right else { return false }
  return (try? areEqual(left.pointee, right.pointee, depth: 0)) ?? false
}

/// What is no value at all equals nothing.
private func areEqual(_ left: quire_value, _ right: quire_value, depth: Int) throws(Failure) -> Bool {
  let kinds = (quire_value_kind(rawValue: left.kind), quire_value_kind(rawValue: right.kind))
  switch kinds {
  case (QUIRE_VALUE_LIST, QUIRE_VALUE_LIST):
    if depth == deepestComparison { return false }
    let left = try array(left.as.list, Int(left.size), "left")
    let right = try array(right.as.list, Int(right.size), "right")
    guard left.count == right.count else { return false }
    for (left, right) in zip(left, right) where try !areEqual(left, right, depth: depth + 1) { return false }
    return true
  case (QUIRE_VALUE_DICTIONARY, QUIRE_VALUE_DICTIONARY):
    if depth == deepestComparison { return false }
    let left = try entries(left, "left"), right = try entries(right, "right")
    guard left.count == right.count else { return false }
    for (key, value) in left {
      guard let other = right[key], try areEqual(value, other, depth: depth + 1) else { return false }
    }
    return true
  case (QUIRE_VALUE_EXPRESSION, QUIRE_VALUE_EXPRESSION):
    return try resolve(left.as.expression, "left").expression == resolve(right.as.expression, "right").expression
  case (QUIRE_VALUE_PREDICATE, QUIRE_VALUE_PREDICATE):
    return try resolve(left.as.predicate, "left").predicate == resolve(right.as.predicate, "right").predicate
  case (QUIRE_VALUE_OBJECT_ID, QUIRE_VALUE_OBJECT_ID): return left.as.integer == right.as.integer
  case (QUIRE_VALUE_OBJECT_ID, QUIRE_VALUE_OBJECT): return try left.as.integer == resolve(right.as.object, "right").id
  case (QUIRE_VALUE_OBJECT, QUIRE_VALUE_OBJECT_ID): return try right.as.integer == resolve(left.as.object, "left").id
  case (QUIRE_VALUE_LIST, _), (_, QUIRE_VALUE_LIST): return false
  case (QUIRE_VALUE_OBJECT_ID, _), (_, QUIRE_VALUE_OBJECT_ID): return false
  default: return try Value.areEqual(value(left, "left"), value(right, "right"))
  }
}

private func entries(_ source: quire_value, _ name: InputName) throws(Failure) -> [Text: quire_value] {
  var entries: [Text: quire_value] = [:]
  for entry in try array(source.as.entries, Int(source.size), name) {
    guard case .text(let key) = try value(entry.key, name) else {
      throw Failure(.invalidArgument, "'\(name)' has a key that is not text.")
    }
    entries[key] = entry.value
  }
  return entries
}
