/// Names a state of an open store, for contexts to be put at. It holds nothing: the state can be read as long as it is
/// the newest one, or as a context shows it.
final class MomentToken: Sendable {
  /// That of the engine.
  private let opening: any AnyObject & Sendable
  /// How many commits have changed something up to there.
  let changes: Int64

  init(_ state: MomentState, of engine: any Engine) {
    opening = engine.opening
    changes = state.changes
  }

  func isOf(_ engine: any Engine) -> Bool { opening === engine.opening }

  func isEqual(to other: MomentToken) -> Bool { opening === other.opening && changes == other.changes }
}
