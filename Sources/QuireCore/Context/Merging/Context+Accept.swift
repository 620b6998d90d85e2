extension Context {
  /// Takes over what a child saves. All or nothing. Observers are told when changes are next processed.
  func accept(_ request: SaveRequest, from child: Context) throws(Failure) {
    try checkMayChange()
    try checkNotReverting()
    try process()
    try AcceptSession(request, of: child, in: self).run()
  }
}
