/// The one error type of the library. Every message names the offender and, where there is one, the remedy.
final class Failure: Error, Sendable {
  /// Mirrors `quire_status`; the ABI layer checks at compile time that the numbers agree.
  enum Kind: UInt32, Sendable {
    case invalidArgument = 1
    case invalidState = 2
    case invalidText = 3
    case unsupported = 4
    case notFound = 5
    case wrongThread = 6
    case closed = 7
    case invalidModel = 8
    case invalidPredicate = 9
    case validation = 10
    case conflict = 11
    case constraint = 12
    case cannotOpen = 13
    case notAStore = 14
    case modelMismatch = 15
    case busy = 16
    case readOnly = 17
    case database = 18
    case function = 19
    case cancelled = 20
    case fileMoved = 21
    case noMemory = 22
    case historyExpired = 23
  }

  let kind: Kind
  let message: Text
  /// Which entity, key, object or row it is about, where that is known.
  let offender: Offender?
  /// Byte offset into the predicate format that failed; -1 when there is none.
  let offset: Int
  /// SQLite's extended result code; 0 when SQLite was not involved.
  let databaseCode: Int32
  /// The single failures behind a combined one (a save that breaks several rules).
  let details: [Failure]
  /// The details of a single broken rule.
  let broken: BrokenRule?
  /// The details of a conflict beside its message, for the layer that can settle or report it: `SaveConflict`,
  /// `ConflictReport`.
  let report: (any Sendable)?

  init(
    _ kind: Kind, _ message: String, about offender: Offender? = nil, offset: Int = -1, databaseCode: Int32 = 0,
    details: [Failure] = [], broken: BrokenRule? = nil, report: (any Sendable)? = nil
  ) {
    self.kind = kind
    self.message = Text(Failure.withoutNul(message))
    self.offender = offender
    self.offset = offset
    self.databaseCode = databaseCode
    self.details = details
    self.broken = broken
    self.report = report
  }
}

extension Failure {
  /// The same failure in other words.
  func saying(_ message: String) -> Failure {
    Failure(
      kind, message, about: offender, offset: offset, databaseCode: databaseCode, details: details, broken: broken,
      report: report)
  }

  /// Text of a caller may contain NUL, at which C would end the message; the sign for it takes its place.
  private static func withoutNul(_ message: String) -> String {
    if !message.utf8.contains(0) { return message }
    return String(String.UnicodeScalarView(message.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 }))
  }
}

extension Failure: CustomStringConvertible {
  var description: String { message.string }
}
