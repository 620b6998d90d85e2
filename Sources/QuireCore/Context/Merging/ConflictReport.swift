/// What the failure of a save knows about its conflicts.
struct ConflictReport: Sendable {
  let conflicts: [Conflict]
}
