/// A model as Xcode writes it. What Xcode has no words for is in elements of other names, which Xcode leaves alone or
/// out: rules of objects and attributes, the order and the paths of a request, more than one version identifier.
struct XMLModelWriter {
  private var writer = XMLWriter()

  /// The document of a frozen model.
  static func contents(of model: Model) throws(Failure) -> Bytes {
    var writer = XMLModelWriter()
    writer.write(model)
    if let place = writer.writer.unwritable {
      throw Failure(
        .unsupported, "The model cannot be written as XML: \(place) has a control character, which no XML can have.")
    }
    return Bytes(Array(writer.writer.text.utf8))
  }

  private mutating func write(_ model: Model) {
    let identifier = model.versionIdentifiers.first?.string
    writer.element(
      "model",
      [
        ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"),
        ("lastSavedToolsVersion", "1"), ("systemVersion", "1"), ("minimumToolsVersion", "Automatic"),
        ("sourceLanguage", "Swift"), ("userDefinedModelVersionIdentifier", identifier),
      ]
    ) { writer in
      for entity in model.entities { XMLModelWriter.write(entity, &writer) }
      for (name, elements) in XMLModelWriter.composites(of: model) {
        writer.element("composite", [("name", name)]) { writer in
          for element in elements { XMLModelWriter.write(element, of: nil, &writer) }
        }
      }
      for (name, template) in model.fetchTemplates { XMLModelWriter.write(template, name.string, &writer) }
      for (name, members) in model.configurations {
        writer.element("configuration", [("name", name.string)]) { writer in
          for member in members { writer.element("memberEntity", [("name", member)]) }
        }
      }
      for other in model.versionIdentifiers.dropFirst() {
        writer.element("versionIdentifier", [("value", other.string)])
      }
    }
  }

  /// What composite attributes are made of, each once, by name. One without a name has that of its attribute.
  private static func composites(of model: Model) -> [(name: String, elements: [Attribute])] {
    var found: [(name: String, elements: [Attribute])] = [], names: Set<String> = []
    var waiting = model.entities.flatMap(\.ownAttributes)
    var place = 0
    while place < waiting.count {
      let attribute = waiting[place]
      place += 1
      guard let composition = attribute.composition, names.insert(name(of: attribute, composition)).inserted else {
        continue
      }
      found.append((name(of: attribute, composition), composition.elements))
      waiting += composition.elements
    }
    return found
  }

  private static func name(of attribute: Attribute, _ composition: Composition) -> String {
    composition.name.isEmpty ? "\(attribute.entity.name)_\(attribute.name)" : composition.name.string
  }

  private static func flag(_ holds: Bool) -> String? { holds ? "YES" : nil }
  private static func optional(_ text: Text) -> String? { text.isEmpty ? nil : text.string }

  private static func write(_ entity: Entity, _ writer: inout XMLWriter) {
    writer.element(
      "entity",
      [
        ("name", entity.name), ("representedClassName", optional(entity.className)),
        ("parentEntity", entity.parentName.isEmpty ? nil : entity.parentName),
        ("isAbstract", flag(entity.isAbstract)), ("versionHashModifier", optional(entity.versionHashModifier)),
        ("elementID", optional(entity.renamingIdentifier)), ("syncable", "YES"),
      ]
    ) { writer in
      for attribute in entity.ownAttributes { write(attribute, of: entity, &writer) }
      for relationship in entity.ownRelationships { write(relationship, &writer) }
      for fetched in entity.ownFetchedProperties {
        writer.element("fetchedProperty", [("name", fetched.name), ("optional", flag(fetched.isOptional))]) { writer in
          write(fetched.template, "fetchedPropertyFetchRequest", &writer)
          write(fetched.userInfo, &writer)
        }
      }
      for index in entity.fetchIndexes { write(index, &writer) }
      if !entity.uniquenessConstraints.isEmpty {
        writer.element("uniquenessConstraints", []) { writer in
          for names in entity.uniquenessConstraints {
            writer.element("uniquenessConstraint", []) { writer in
              for name in names { writer.element("constraint", [("value", name)]) }
            }
          }
        }
      }
      for rule in entity.ownRules where rule.key.isEmpty { write(rule, &writer) }
      write(entity.userInfo, &writer)
    }
  }

  private static func write(_ info: UserInfo, _ writer: inout XMLWriter) {
    if info.entries.isEmpty { return }
    writer.element("userInfo", []) { writer in
      for (key, value) in info.entries { writer.element("entry", [("key", key.string), ("value", value.string)]) }
    }
  }

  private static func write(_ rule: ValidationRule, _ writer: inout XMLWriter) {
    guard let condition = rule.condition as? PredicateCondition else { return }
    writer.element(
      "validationRule", [("predicateString", condition.predicate.fileText), ("message", rule.message.string)])
  }

  // MARK: Properties

  /// `entity` is nil for an element of a composite attribute.
  private static func write(_ attribute: Attribute, of entity: Entity?, _ writer: inout XMLWriter) {
    let rules = attribute.rules, traits = attribute.traits, defaultValue = attribute.declaredDefault
    func interval(_ value: Value) -> String? { if case .date(let seconds) = value { "\(seconds)" } else { nil } }
    let isDerived = attribute.derivation != nil
    writer.element(
      "attribute",
      [
        ("name", attribute.name), ("optional", flag(attribute.isOptional)), ("transient", flag(attribute.isTransient)),
        ("attributeType", attribute.type == .undefined ? nil : attribute.type.name),
        ("minValueString", XMLValues.written(rules.minimum) ?? rules.minimumLength.map(String.init)),
        ("maxValueString", XMLValues.written(rules.maximum) ?? rules.maximumLength.map(String.init)),
        ("minDateTimeInterval", interval(rules.minimum)), ("maxDateTimeInterval", interval(rules.maximum)),
        ("regularExpressionString", rules.pattern?.string),
        ("defaultValueString", XMLValues.written(defaultValue)), ("defaultDateTimeInterval", interval(defaultValue)),
        ("composite", attribute.composition.map { name(of: attribute, $0) }), ("usesScalarValueType", "NO"),
        ("indexed", flag(attribute.isIndexed)), ("versionHashModifier", optional(attribute.versionHashModifier)),
        ("elementID", optional(attribute.renamingIdentifier)),
        ("allowsExternalBinaryDataStorage", flag(traits.allowsExternalStorage)),
        ("preserveAfterDeletion", flag(traits.preservesAfterDeletion)),
        ("allowsCloudEncryption", flag(traits.allowsCloudEncryption)),
        ("valueTransformerName", optional(traits.transformer)), ("customClassName", optional(traits.valueClassName)),
        ("derived", flag(isDerived)), ("derivationExpression", attribute.derivation?.text.string),
        ("syncable", "YES"),
      ]
    ) { writer in
      if let filter = (attribute.derivation?.source as? ArchivedDerivation)?.filter {
        writer.element("derivationFilter", [("predicateString", filter.fileText)])
      }
      for rule in entity?.ownRules ?? [] where rule.key == attribute.name { write(rule, &writer) }
      write(attribute.userInfo(with: OwnTrait.searchable, if: attribute.isSearchable), &writer)
    }
  }

  private static func write(_ relationship: Relationship, _ writer: inout XMLWriter) {
    let names: [DeleteRule: String] = [
      .noAction: "No Action", .nullify: "Nullify", .cascade: "Cascade", .deny: "Deny",
    ]
    let hasInverse = !relationship.inverseName.isEmpty, maximum = relationship.declaredMaximumCount
    writer.element(
      "relationship",
      [
        ("name", relationship.name), ("optional", flag(relationship.isOptional)),
        ("transient", flag(relationship.isTransient)), ("toMany", flag(relationship.isToMany)),
        ("minCount", relationship.minimumCount == 0 ? nil : String(relationship.minimumCount)),
        ("maxCount", maximum == 0 ? nil : String(maximum)), ("deletionRule", names[relationship.deleteRule]),
        ("ordered", flag(relationship.isOrdered)), ("destinationEntity", relationship.destinationName),
        ("inverseName", hasInverse ? relationship.inverseName : nil),
        ("inverseEntity", hasInverse ? relationship.destinationName : nil), ("indexed", flag(relationship.isIndexed)),
        ("versionHashModifier", optional(relationship.versionHashModifier)),
        ("elementID", optional(relationship.renamingIdentifier)), ("syncable", "YES"),
      ]
    ) { writer in
      write(relationship.userInfo(with: OwnTrait.namesJoinTable, if: relationship.namesJoinTable), &writer)
    }
  }

  private static func write(_ index: FetchIndex, _ writer: inout XMLWriter) {
    let condition = (index.condition as? IndexPredicate)?.predicate.fileText
    writer.element("fetchIndex", [("name", index.name.string), ("partialIndexPredicate", condition)]) { writer in
      for element in index.elements {
        var property: String?, expression: String?
        switch element.target {
        case .property(let name): property = name
        case .object: expression = "SELF"
        case .entity: expression = "entity"
        case .expression(let kept): expression = (kept as? IndexedExpression)?.expression.text
        }
        writer.element(
          "fetchIndexElement",
          [
            ("property", property), ("expression", expression), ("type", index.kind == .rTree ? "RTree" : "Binary"),
            ("order", element.isDescending ? "descending" : "ascending"),
          ])
      }
    }
  }

  private static func write(_ template: any FetchTemplate, _ name: String, _ writer: inout XMLWriter) {
    let request = template as? FetchRequest
    func number(_ value: Int?) -> String? { value.flatMap { $0 == 0 ? nil : String($0) } }
    writer.element(
      "fetchRequest",
      [
        ("name", name), ("entity", template.entityName), ("predicateString", request?.predicate?.fileText),
        ("fetchLimit", number(request?.limit)), ("fetchOffset", number(request?.offset)),
        ("fetchBatchSize", number(request?.batchSize)),
        ("resultType", number(request.map { Int($0.resultType.rawValue) })),
        ("includeSubentities", request?.includesSubentities == false ? "NO" : nil),
        ("includePropertyValues", request?.includesPropertyValues == false ? "NO" : nil),
      ]
    ) { writer in
      for descriptor in request?.sort ?? [] {
        writer.element(
          "sortDescriptor",
          [
            ("key", descriptor.keyPath.joined(separator: ".")), ("ascending", descriptor.isAscending ? "YES" : "NO"),
            ("selector", SortSelector.selector(of: descriptor.textOrder.kind)),
          ])
      }
      for path in request?.prefetchedKeyPaths ?? [] {
        writer.element("prefetch", [("keyPath", path.joined(separator: "."))])
      }
    }
  }
}
