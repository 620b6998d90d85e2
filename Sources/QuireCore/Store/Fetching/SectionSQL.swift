extension Item {
  /// The one value of `key`.
  func sectionValue(of key: Expression) throws(Failure) -> Value {
    if let value = scalar { return value }
    throw Failure(
      .invalidArgument,
      "\(key.text) gives \(kindName), which no section can be made of. Use one of the values, their number or another "
        + "calculation.")
  }
}

extension SQLCompiler {
  /// The column that orders rows by their sections; never NULL.
  func order(of sections: SectionScan, _ row: SQLRow) throws(Failure) -> SQLExpr {
    try inParts { () throws(Failure) in
      let term = try term(sections.key, SQLScope(subject: row))
      if case .collection = term { _ = try Item.list([]).sectionValue(of: sections.key) }
      return try computed(argument(term, sections.key.text), .section(sections))
    }
  }
}
