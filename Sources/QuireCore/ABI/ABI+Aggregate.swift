import CQuire

@_cdecl("quire_results_add_aggregate") @implementation
public func quire_results_add_aggregate(
  _ results: UnsafeMutablePointer<quire_results>?, _ name: CText, _ name_size: Int,
  _ expression: UnsafePointer<quire_expression>?, _ out_error: ErrorOut
) -> quire_status {
  status(results, "results", out_error) { results throws(Failure) in
    try results.calculate(string(name, name_size, "name"), resolve(expression, "expression").expression)
  }
}

@_cdecl("quire_results_aggregate") @implementation
public func quire_results_aggregate(
  _ results: UnsafeMutablePointer<quire_results>?, _ section: Int64, _ name: CText, _ name_size: Int,
  _ out_value: UnsafeMutablePointer<quire_value>?, _ out_error: ErrorOut
) -> quire_status {
  out_value?.pointee = quire_value()
  return status(results, "results", out_error) { results throws(Failure) in
    let out = try required(out_value, "out_value")
    let found = try results.aggregate(string(name, name_size, "name"), of: section == -1 ? nil : Int(section))
    out.pointee = try exported(found.value, nameOf: found.text)
  }
}
