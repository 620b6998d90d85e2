/// The rules of a save for the value of an attribute, beyond its type and whether there is one. nil passes all of them.
struct AttributeRules: Sendable {
  /// Bounds that are values themselves; nil for none.
  var minimum = Value.nil
  var maximum = Value.nil
  /// Bounds of the code points of text or the bytes of data; nil for none.
  var minimumLength: Int?
  var maximumLength: Int?
  /// A regular expression for the whole text.
  var pattern: Text?

  var isEmpty: Bool {
    minimum.isNil && maximum.isNil && minimumLength == nil && maximumLength == nil && pattern == nil
  }

  /// The same in the form of the attribute's values, or an error when a rule cannot apply to them.
  func fitting(_ attribute: Attribute) throws(Failure) -> AttributeRules {
    func failure(_ problem: String) -> Failure {
      Failure(.invalidModel, "Attribute '\(attribute.qualifiedName)' \(problem)", about: .property(attribute))
    }
    var fitting = self
    fitting.minimum = try bound(minimum, "minimum", of: attribute)
    fitting.maximum = try bound(maximum, "maximum", of: attribute)
    if let order = Value.order(fitting.minimum, fitting.maximum), order > 0 {
      throw failure("has a minimum above its maximum.")
    }
    if minimumLength != nil || maximumLength != nil {
      if !attribute.hasLength {
        throw failure("is of type \(attribute.type.name), so it has no length to limit; give a minimum and a maximum.")
      }
      if let minimumLength, let maximumLength, minimumLength > maximumLength {
        throw failure("has a minimum length of \(minimumLength) above its maximum of \(maximumLength).")
      }
    }
    if let pattern {
      if attribute.type != .string, attribute.type != .uri {
        throw failure("is of type \(attribute.type.name) and cannot have a pattern: only text matches one.")
      }
      do throws(Failure) { _ = try RegularExpression(pattern, []) } catch {
        throw failure("has a pattern that is none: \(error.message)")
      }
    }
    return fitting
  }

  private func bound(_ value: Value, _ name: String, of attribute: Attribute) throws(Failure) -> Value {
    if value.isNil { return .nil }
    func failure(_ problem: String) -> Failure {
      Failure(.invalidModel, "Attribute '\(attribute.qualifiedName)' \(problem)", about: .property(attribute))
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: break
    default:
      throw failure("is of type \(attribute.type.name) and cannot have a \(name): only numbers and dates can.")
    }
    let fitting: Value
    do throws(Failure) { fitting = try attribute.coerce(value) } catch {
      throw failure("has a \(name) that it could not hold itself: \(error.message)")
    }
    if Value.order(fitting, fitting) == nil { throw failure("has a \(name) that nothing can be compared with.") }
    return fitting
  }
}

extension Attribute {
  /// Whether its values have a length: text in code points, data in bytes.
  var hasLength: Bool {
    switch type {
    case .string, .uri, .binary, .transformable: true
    default: false
    }
  }
}
