extension Context {
  /// Runs `body` with a context on a store in the midst of a migration, and saves what is pending afterwards. The
  /// context ends with that store.
  ///
  /// Its saves are part of the transaction of the migration, which an error takes back.
  static func duringMigration(
    of store: any Engine, _ body: (Context) throws(Failure) -> Void
  ) throws(Failure) {
    let context = Context(store: store)
    context.retainExternally()
    defer { context.releaseExternally() }
    try context.inside { () throws(Failure) in try context.beginTransaction() }
    try body(context)
    try context.inside { () throws(Failure) in try context.save() }
  }

  private func inside(_ body: () throws(Failure) -> Void) throws(Failure) {
    try confinement.enter()
    defer { confinement.leave() }
    try body()
  }
}
