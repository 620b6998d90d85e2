/// The SQL function that text indexes are filled with. No trigger or view calls it, so that any program may write.
enum TextIndexFunction {
  /// quire_search_text(text): NULL for what is not text.
  static let name = "quire_search_text"

  static func register(on connection: Connection) throws(Failure) {
    let folder = TextFolder()
    try connection.registerTextFunction(name) { text, give in folder.withSearchText(text) { give($0) } }
  }
}
