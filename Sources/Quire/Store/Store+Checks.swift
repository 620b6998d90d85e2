extension Store {
  /// Throws `closed` when the store is not open any more.
  func checkOpen() throws(Failure) { try withConnection { (_) throws(Failure) in } }
}
