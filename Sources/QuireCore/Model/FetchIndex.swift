/// A named index that a fetch can use; not part of the version hash.
struct FetchIndex: Sendable {
  struct Element: Sendable {
    let property: String
    let isDescending: Bool
  }

  let name: String
  let elements: [Element]
}
