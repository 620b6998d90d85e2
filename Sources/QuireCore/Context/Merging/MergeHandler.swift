/// Decides conflict by conflict.
final class MergeHandler {
  let decide: (Conflict) -> MergePolicy

  init(_ decide: @escaping (Conflict) -> MergePolicy) { self.decide = decide }
}
