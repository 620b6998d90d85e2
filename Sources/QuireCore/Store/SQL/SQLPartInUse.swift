/// A part that is bound to a statement, and the statement that it is itself.
final class SQLPartInUse {
  private let statement: Statement
  private let part: SQLPart

  init(_ statement: Statement, _ part: SQLPart) {
    self.statement = statement
    self.part = part
  }

  func run(_ values: UnsafeBufferPointer<OpaquePointer?>, _ context: OpaquePointer) throws(Failure) {
    try statement.answer(values, at: part.outer, to: context)
  }
}
