/// A listing with its rows as they were last worked out.
struct ListContents {
  let listing: Listing
  let index: SectionedIndex

  /// Gives a row the permanent id of its object. False when that may put it elsewhere: it then stands where it stood, and
  /// takes its place when the object is looked at again.
  func rename(_ temporary: Int64, to object: ManagedObject) -> Bool {
    guard let present = index.key(of: temporary) else { return true }
    if let key = try? listing.key(of: object), index.replaceID(temporary, with: object.id, key: key) { return true }
    _ = index.replaceID(temporary, with: object.id, key: present)
    return false
  }
}
