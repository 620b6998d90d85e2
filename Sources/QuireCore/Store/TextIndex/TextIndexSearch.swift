/// The text indexes of an open store, as a statement that is being compiled asks them.
struct TextIndexSearch {
  let moment: SQLiteMoment

  /// nil when the attribute is not searchable.
  func index(of attribute: Attribute) -> TextIndex? { moment.textIndexes.index(of: attribute) }

  /// nil when the index cannot be asked, or is not worth it.
  func choose(from trigrams: [Trigram], of index: TextIndex) -> [Trigram]? {
    do throws(Failure) {
      let chosen = try moment.withConnection { connection throws(Failure) in
        try moment.textIndexes.choose(from: trigrams, of: index, at: moment.commit, on: connection)
      }
      return chosen.isEmpty ? nil : chosen
    } catch {
      // An index never decides what is found, so what goes wrong here goes wrong again, and is said, where it matters.
      return nil
    }
  }
}
