import CQuire

@_cdecl("quire_model_load") @implementation
public func quire_model_load(
  _ path: CText, _ path_size: Int, _ version: CText, _ version_size: Int, _ out_model: Out<quire_model>,
  _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_model, "out_model", out_error) { () throws(Failure) in
    // A store is read by SQLite.
    try ForeignCall.refuse()
    let version = version == nil ? nil : try string(version, version_size, "version")
    return try ModelFile.load(path: text(path, path_size, "path"), version: version)
  }
}

@_cdecl("quire_model_save") @implementation
public func quire_model_save(
  _ model: UnsafeMutablePointer<quire_model>?, _ path: CText, _ path_size: Int, _ out_error: ErrorOut
) -> quire_status {
  unconfined(model, "model", out_error) { model throws(Failure) in
    try ModelFile.save(model, to: text(path, path_size, "path"))
  }
}
