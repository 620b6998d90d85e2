extension Attribute {
  /// The value as this attribute stores it, or an error that names the attribute, the value's kind and the remedy.
  ///
  /// Numbers convert where nothing is lost (an integer into a Double attribute), and doubles become decimals of the 15
  /// digits that they carry; text never becomes a number.
  func coerce(_ value: Value) throws(Failure) -> Value {
    switch (type, value) {
    case (_, .nil), (.undefined, _): return value
    case (.integer16, .integer(let integer)): return try inRange(integer, Int64(Int16.min)...Int64(Int16.max))
    case (.integer32, .integer(let integer)): return try inRange(integer, Int64(Int32.min)...Int64(Int32.max))
    case (.integer64, .integer): return value
    case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)):
      return .integer(flag ? 1 : 0)
    case (.boolean, .boolean): return value
    case (.boolean, .integer(let integer)) where integer == 0 || integer == 1: return .boolean(integer == 1)
    case (.double, .double(let double)): return .double(try storable(double))
    case (.double, .float(let float)): return .double(try storable(Double(float)))
    case (.double, .integer(let integer)):
      if let exact = Double(exactly: integer) { return .double(exact) }
    case (.float, .float(let float)): return .float(Float(try storable(Double(float))))
    case (.float, .double(let double)):
      let float = Float(double)
      if float.isFinite || !double.isFinite { return .float(Float(try storable(Double(float)))) }
      throw Failure(
        .invalidArgument, "Attribute '\(qualifiedName)' is a Float, and \(double) is beyond its range.",
        about: .property(self))
    case (.float, .integer(let integer)):
      if let exact = Float(exactly: integer) { return .float(exact) }
    case (.decimal, .decimal(let decimal)): return .decimal(try storable(decimal))
    case (.decimal, .integer(let integer)): return .decimal(try storable(Decimal(integer)))
    case (.decimal, .double(let double)):
      if let decimal = Decimal(double) { return .decimal(decimal.rounded) }
    case (.date, .date(let seconds)): return .date(try storable(seconds))
    case (.string, .text), (.binary, .data), (.uuid, .uuid), (.uri, .uri): return value
    case (.uri, .text(let text)): return .uri(text)
    case (.transformable, .data): return value
    default: break
    }
    throw Failure(
      .invalidArgument,
      "Attribute '\(qualifiedName)' is of type \(type.name) and cannot hold \(value.kindName)\(detail(value)).",
      about: .property(self))
  }

  private func inRange(_ integer: Int64, _ range: ClosedRange<Int64>) throws(Failure) -> Value {
    if range.contains(integer) { return .integer(integer) }
    throw Failure(
      .invalidArgument,
      "Attribute '\(qualifiedName)' is of type \(type.name), which holds "
        + "\(range.lowerBound) to \(range.upperBound); \(integer) does not fit.", about: .property(self))
  }

  /// SQLite stores NaN as NULL, so NaN would silently come back as nil. SQLite also drops the sign of zero, which would
  /// then change later calculations.
  private func storable(_ double: Double) throws(Failure) -> Double {
    if isTransient { return double }
    if !double.isNaN { return double == 0 ? 0 : double }
    throw Failure(
      .invalidArgument,
      "Attribute '\(qualifiedName)' cannot hold NaN, which SQLite does not store. Leave it without a value.",
      about: .property(self))
  }

  /// The file would have another number, without a word.
  private func storable(_ decimal: Decimal) throws(Failure) -> Decimal {
    if decimal.fitsFile || isTransient { return decimal }
    throw Failure(
      .invalidArgument,
      "Attribute '\(qualifiedName)' cannot hold \(decimal), which has \(decimal.digitCount) significant digits: a file "
        + "keeps \(Decimal.storedDigits) of a decimal. Round it, or keep it as text in an attribute of type String.",
      about: .property(self))
  }

  /// A value that was calculated: a decimal with the digits that a file keeps, any other as it is.
  func rounded(_ value: Value) -> Value {
    if type == .decimal, case .decimal(let decimal) = value { .decimal(decimal.rounded) } else { value }
  }

  private func detail(_ value: Value) -> String {
    switch value {
    case .integer(let integer): " (\(integer))"
    case .double(let double): " (\(double))"
    default: ""
    }
  }
}
