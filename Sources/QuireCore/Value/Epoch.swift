/// Dates of the ABI, counted from 1970, as those of the file, counted from 2001, and back.
///
/// Doubles are coarser at the one count than at the other. Adding the difference would move a whole number of
/// microseconds to a neighbouring double. Clocks and other languages count whole microseconds, and these stay as they
/// are (from 1865 to 2106; beyond, neighbouring microseconds are hardly different doubles). Every other number is moved
/// by the difference alone.
enum Epoch {
  private static let difference = 978_307_200_000_000.0
  /// 2 to the power of 32 seconds: from there on the nearest double may be half a microsecond away.
  private static let greatestCount = 4_294_967_296_000_000.0

  static func since2001(_ since1970: Double) -> Double {
    moved(since1970, by: -difference) ?? since1970 - Value.secondsFrom1970To2001
  }

  static func since1970(_ since2001: Double) -> Double {
    moved(since2001, by: difference) ?? since2001 + Value.secondsFrom1970To2001
  }

  /// The seconds moved by a number of microseconds, when they are the double nearest to a whole number of them.
  private static func moved(_ seconds: Double, by microseconds: Double) -> Double? {
    let count = (seconds * 1_000_000).rounded()
    guard max(count.magnitude, (count + microseconds).magnitude) < greatestCount else { return nil }
    return count / 1_000_000 == seconds ? (count + microseconds) / 1_000_000 : nil
  }
}
