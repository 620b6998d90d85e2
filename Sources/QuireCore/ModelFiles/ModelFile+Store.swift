extension ModelFile: ModelForm {}

extension Store {
  /// Opens the store at `path`, or creates it with a copy of `model` in it, which it freezes. Without one the file is
  /// there and has a copy.
  static func open(path: Text, model: Model?, options: Options = Options()) throws(Failure) -> Store {
    try open(path: path, model: model, options: options, form: ModelFile.self)
  }
}
