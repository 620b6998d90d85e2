import CQuire

@_cdecl("quire_archive_decode") @implementation
public func quire_archive_decode(
  _ data: UnsafePointer<UInt8>?, _ size: Int, _ out_evaluation: Out<quire_evaluation>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_evaluation, "out_evaluation", out_error) { () throws(Failure) in
    let data = try array(data, size, "data")
    try Memory.require(data.count, for: "the data of 'data'")
    return try Evaluation(ArchiveDecoder.item(of: Bytes(data)), in: nil)
  }
}
