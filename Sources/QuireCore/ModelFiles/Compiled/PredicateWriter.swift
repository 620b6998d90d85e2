/// Predicates and expressions as Core Data archives them.
struct PredicateWriter {
  /// The numbers of Core Data for kinds of expressions.
  private enum Kind: Int64 {
    case constant = 0, selfObject, variable, keyPath, function, union, intersect, minus
    case keyPathSpecifier = 10, symbol, assignment, subquery, aggregate, anyKey
    case conditional = 20
  }

  /// Whose methods the functions of the language are.
  private static let functionClass = "_NSPredicateUtilities"

  private(set) var encoder: ArchiveEncoder

  /// Takes the encoder away, so that two do not share what it has and copy it.
  private init(taking encoder: inout ArchiveEncoder) {
    self.encoder = encoder
    encoder = ArchiveEncoder()
  }

  /// Writes with `encoder`, and hands it back.
  static func predicate(_ predicate: Predicate, _ encoder: inout ArchiveEncoder) -> PropertyListValue {
    var writer = PredicateWriter(taking: &encoder)
    defer { encoder = writer.encoder }
    return writer.predicate(predicate)
  }

  static func expression(_ expression: Expression, _ encoder: inout ArchiveEncoder) -> PropertyListValue {
    var writer = PredicateWriter(taking: &encoder)
    defer { encoder = writer.encoder }
    return writer.expression(expression)
  }

  private mutating func predicate(_ predicate: Predicate) -> PropertyListValue {
    switch predicate {
    case .constant(let holds): return encoder.object(holds ? "NSTruePredicate" : "NSFalsePredicate", [:])
    case .not(let part): return compound(0, [part])
    case .and(let parts): return compound(1, parts)
    case .or(let parts): return compound(2, parts)
    case .comparison(let comparison):
      let left = expression(comparison.left), right = expression(comparison.right)
      let how = relation(comparison)
      return encoder.object(
        "NSComparisonPredicate", ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": how])
    }
  }

  private mutating func compound(_ kind: Int64, _ parts: [Predicate]) -> PropertyListValue {
    let written = parts.map { predicate($0) }
    let list = encoder.list(written)
    return encoder.object(
      "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(kind), "NSSubpredicates": list])
  }

  private mutating func relation(_ comparison: Comparison) -> PropertyListValue {
    let relation = comparison.operator
    var fields: [String: PropertyListValue] = [
      "NSOperatorType": .integer(Int64(relation.rawValue)), "NSModifier": .integer(Int64(comparison.modifier.rawValue)),
    ]
    let options = PropertyListValue.integer(Int64(comparison.options.rawValue))
    switch relation {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      fields["NSOptions"] = options
      fields["NSVariant"] = .integer(Int64(relation.rawValue))
      return encoder.object("NSComparisonPredicateOperator", fields)
    case .equal, .notEqual:
      fields["NSOptions"] = options
      fields["NSNegate"] = .boolean(relation == .notEqual)
      return encoder.object("NSEqualityPredicateOperator", fields)
    case .between:
      fields["NSOptions"] = options
      return encoder.object("NSBetweenPredicateOperator", fields)
    case .custom:
      fields["NSOptions"] = options
      fields["NSSelector"] = encoder.text(comparison.customOperator)
      return encoder.object("NSCustomPredicateOperator", fields)
    case .matches, .like, .beginsWith, .endsWith, .isIn, .contains:
      fields["NSFlags"] = options
      let name =
        switch relation {
        case .matches: "NSMatchingPredicateOperator"
        case .like: "NSLikePredicateOperator"
        case .isIn, .contains: "NSInPredicateOperator"
        default: "NSSubstringPredicateOperator"
        }
      if relation == .beginsWith || relation == .endsWith {
        fields["NSPosition"] = .integer(relation == .beginsWith ? 0 : 1)
      }
      return encoder.object(name, fields)
    }
  }

  // MARK: Expressions

  private mutating func object(
    _ className: String, _ kind: Kind, _ fields: [String: PropertyListValue] = [:]
  ) -> PropertyListValue {
    var fields = fields
    fields["NSExpressionType"] = .integer(kind.rawValue)
    return encoder.object(className, fields)
  }

  private mutating func expression(_ expression: Expression) -> PropertyListValue {
    switch expression {
    case .constant(let constant): return self.constant(constant.value)
    case .selfObject: return object("NSSelfExpression", .selfObject)
    case .anyKey: return object("NSAnyKeyExpression", .anyKey)
    case .variable(let name):
      let name = encoder.text(name)
      return object("NSVariableExpression", .variable, ["NSVariable": name])
    case .keyPath(let keys): return keyPath(.selfObject, keys)
    case .path(let base, let keys): return keyPath(base, keys)
    case .variableKey(let base, let name):
      let target = self.expression(base), key = self.expression(.variable(name))
      return call("NSKeyPathExpression", .keyPath, target, "valueForKey:", [key])
    case .function(let name, let parts):
      // Functions that the language does not have are methods of their first part.
      let isMethod = !FunctionTable.isBuiltIn(name) && !parts.isEmpty
      let target = isMethod ? self.expression(parts[0]) : functions()
      let given = parts.dropFirst(isMethod ? 1 : 0).map { self.expression($0) }
      return call("NSFunctionExpression", .function, target, name, given)
    case .index(let base, let index, _):
      let given = [self.expression(base), self.index(index)]
      return call("NSFunctionExpression", .function, functions(), "objectFrom:withIndex:", given)
    case .list(let parts):
      let parts = parts.map { self.expression($0) }
      let list = encoder.list(parts)
      return object("NSAggregateExpression", .aggregate, ["NSCollection": list])
    case .subquery(let collection, let variable, let condition):
      let collection = self.expression(collection), condition = predicate(condition)
      let variable = encoder.text(variable)
      return object(
        "NSSubqueryExpression", .subquery,
        ["NSCollection": collection, "NSVariable": variable, "NSPredicate": condition])
    case .conditional(let condition, let first, let second):
      let condition = predicate(condition), first = self.expression(first), second = self.expression(second)
      return object(
        "NSTernaryExpression", .conditional,
        ["NSPredicate": condition, "NSTrueExpression": first, "NSFalseExpression": second])
    case .set(let operation, let left, let right):
      let left = self.expression(left), right = self.expression(right)
      let kind: Kind = operation == .union ? .union : operation == .intersect ? .intersect : .minus
      return object("NSSetExpression", kind, ["NSLeftExpression": left, "NSRightExpression": right])
    case .fetch(let parts): return self.expression(.function("FETCH", parts))
    case .assignment(let name, let value):
      let name = encoder.text(name), value = self.expression(value)
      return object(
        "NSVariableAssignmentExpression", .assignment, ["NSAssignmentVariable": name, "NSSubexpression": value])
    case .argument(_, let text): return self.expression(.function(text, []))
    }
  }

  private mutating func constant(_ value: Value) -> PropertyListValue {
    if value.isNil {
      return object("NSConstantValueExpression", .constant, ["NSConstantValueClassName": ArchiveEncoder.null])
    }
    let constant = encoder.value(value)
    return object("NSConstantValueExpression", .constant, ["NSConstantValue": constant])
  }

  private mutating func keyPath(_ base: Expression, _ keys: [Key]) -> PropertyListValue {
    let target = expression(base), path = encoder.text(keys.names.joined(separator: "."))
    let specifier = object("NSKeyPathSpecifierExpression", .keyPathSpecifier, ["NSKeyPath": path])
    let selector = keys.count == 1 ? "valueForKey:" : "valueForKeyPath:"
    return call("NSKeyPathExpression", .keyPath, target, selector, [specifier])
  }

  private mutating func index(_ index: Expression.Index) -> PropertyListValue {
    func symbol(_ writer: inout PredicateWriter, _ name: String) -> PropertyListValue {
      let name = writer.encoder.text(name)
      return writer.object("NSSymbolicExpression", .symbol, ["NSToken": name])
    }
    switch index {
    case .first: return symbol(&self, "FIRST")
    case .last: return symbol(&self, "LAST")
    case .size: return symbol(&self, "SIZE")
    case .expression(let expression): return self.expression(expression)
    }
  }

  /// The target of a function of the language.
  private mutating func functions() -> PropertyListValue {
    let name = encoder.text(PredicateWriter.functionClass)
    return object("NSConstantValueExpression", .constant, ["NSConstantValueClassName": name])
  }

  private mutating func call(
    _ className: String, _ kind: Kind, _ target: PropertyListValue, _ selector: String, _ given: [PropertyListValue]
  ) -> PropertyListValue {
    let selector = encoder.text(selector)
    let given = encoder.list(given, className == "NSKeyPathExpression" ? "NSMutableArray" : "NSArray")
    return object(className, kind, ["NSOperand": target, "NSSelectorName": selector, "NSArguments": given])
  }
}
