/// An aggregate that came to have another value.
struct AggregateChange: Sendable {
  /// Its place in the list after the change; -1 for the whole list.
  let section: Int
  let name: Text
  let value: Value
  /// The text of a decimal, for the owner that lends it.
  let text: Text

  init(section: Int, name: Text, value: Value) {
    self.section = section
    self.name = name
    self.value = value
    if case .decimal(let decimal) = value { text = Text(decimal.description) } else { text = "" }
  }
}
