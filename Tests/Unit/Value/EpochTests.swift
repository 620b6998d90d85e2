import Testing

@testable import QuireCore

@Suite struct EpochTests {
  @Test(arguments: Dice.seeds(1)) func `whole microseconds keep their count`(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    for _ in 0..<100_000 {
      let count = Int64.random(in: -3_300_000_000_000_000...4_290_000_000_000_000, using: &generator)
      let since1970 = Double(count) / 1_000_000
      let since2001 = Double(count - 978_307_200_000_000) / 1_000_000
      #expect(Epoch.since2001(since1970) == since2001, "\(count), seed \(seed)")
      #expect(Epoch.since1970(since2001) == since1970, "\(count), seed \(seed)")
    }
  }

  @Test func `other dates move by the difference, to within the precision of doubles`() {
    for seconds in [0.1234567891, 1_570_606_675.577_120_3, -978_307_200.000_000_4, 1e17, -1e300] {
      #expect(abs(Epoch.since2001(seconds) - (seconds - 978_307_200)) <= (seconds - 978_307_200).ulp)
      #expect(abs(Epoch.since1970(seconds) - (seconds + 978_307_200)) <= (seconds + 978_307_200).ulp)
    }
    #expect(Epoch.since2001(.infinity) == .infinity && Epoch.since1970(.nan).isNaN)
  }
}
