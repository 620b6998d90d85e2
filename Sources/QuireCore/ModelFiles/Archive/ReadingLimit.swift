/// How much may be made of a file that is read. A few bytes can name one part a million times.
final class ReadingLimit {
  /// Nothing of a model takes less: an archive has ten and more keys for a property.
  private static let leastBytesPerPart = 16
  private static let least = 1_000

  private var remaining: Int
  private let what: String

  /// For a file of so many bytes; `what` is what a failure calls it.
  init(size: Int, bytesPerPart: Int = leastBytesPerPart, _ what: String) {
    remaining = ReadingLimit.least + size / bytesPerPart
    self.what = what
  }

  /// Counts parts that are about to be made.
  func take(_ count: Int = 1) throws(Failure) {
    remaining -= count
    if remaining < 0 { throw failure }
  }

  var failure: Failure {
    Failure(.invalidModel, "\(what) has more parts than it has room for: it names some of them over and over.")
  }
}
