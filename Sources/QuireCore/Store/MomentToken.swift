/// Names a state of an open store, for contexts to be put at. It holds nothing: the state can be read as long as it is
/// the newest one, or as a context shows it.
final class MomentToken: Sendable {
  /// Those of the store.
  private let commits: Commits
  /// How many commits have changed something up to there.
  let changes: Int64

  init(_ state: Commits.State, of commits: Commits) {
    self.commits = commits
    changes = state.changes
  }

  func isOf(_ store: Store) -> Bool { commits === store.commits }

  func isEqual(to other: MomentToken) -> Bool { commits === other.commits && changes == other.changes }
}
