/// One sort key of a fetch. nil comes first ascending and last descending.
struct SortDescriptor: Hashable, Sendable {
  let keyPath: [String]
  var isAscending = true
  var textOrder = TextOrder.binary

  /// As messages call it.
  var text: String { keyPath.joined(separator: ".") + (isAscending ? "" : " descending") }
}
