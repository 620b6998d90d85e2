extension ModelFile: ModelForm {}

extension Store {
  /// Opens the store at `path`, or creates it with a copy of `model` in it, which it freezes. Without one the file is
  /// there and has a copy.
  static func open(path: Text, model: Model?, options: Options = Options()) throws(Failure) -> Store {
    if options.migrates, options.isReadOnly {
      throw Failure(
        .invalidArgument,
        "A store that is opened for reading only cannot be migrated. Leave out one of the two options.")
    }
    guard options.migrates, let model else {
      return try open(path: path, model: model, options: options, form: ModelFile.self)
    }
    do throws(Failure) { return try open(path: path, model: model, options: options, form: ModelFile.self) } catch {
      if error.kind != .modelMismatch { throw error }
      // An XML store is not migrated.
      let isSQLite = try isDatabase(fileAt: path)
      if !isSQLite { throw error }
    }
    try Migration(path: path, source: nil, target: model, options: options).run()
    return try open(path: path, model: model, options: options, form: ModelFile.self)
  }
}

extension Migration {
  /// Looks at the file, and writes nothing. Without a source the file's own model is it, and without a target there is
  /// no stage yet.
  convenience init(path: Text, source: Model?, target: Model?, options: Store.Options) throws(Failure) {
    try self.init(path: path, source: source, target: target, options: options, form: ModelFile.self)
  }
}
