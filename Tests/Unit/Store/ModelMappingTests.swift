import Testing

@testable import QuireCore

@Suite("What becomes of the entities and properties of a model in another")
struct ModelMappingTests {
  /// `entities` are the elements of Xcode's file.
  private static func model(_ entities: String) throws -> Model {
    let model = try XMLModelReader.model(of: Bytes(Array("<model>\(entities)</model>".utf8)), "It")
    try model.freeze()
    return model
  }

  private static func entity(_ name: String, _ attributes: String = "", _ properties: String = "") -> String {
    "<entity name='\(name)' \(attributes)>\(properties)</entity>"
  }

  private static func text(_ name: String, _ attributes: String = "optional='YES'") -> String {
    "<attribute name='\(name)' attributeType='String' \(attributes)/>"
  }

  private static func toOne(_ name: String, _ destination: String, _ attributes: String = "") -> String {
    "<relationship name='\(name)' optional='YES' maxCount='1' destinationEntity='\(destination)' \(attributes)/>"
  }

  private static func toMany(_ name: String, _ destination: String, _ attributes: String = "") -> String {
    "<relationship name='\(name)' optional='YES' toMany='YES' destinationEntity='\(destination)' \(attributes)/>"
  }

  /// Each entity and property of the target with what it was, if that had another name or was nothing.
  private static func lines(_ mapping: ModelMapping) -> [String] {
    let entities = mapping.entities.flatMap { entity in
      ["\(entity.source.name) > \(entity.target.name)"]
        + zip(entity.target.properties, entity.sources).compactMap { target, source in
          source?.qualifiedName == target.qualifiedName
            ? nil : "\(source?.qualifiedName ?? "-") > \(entity.target.name).\(target.name)"
        }
    }
    return entities + mapping.added.map { "- > \($0.name)" } + mapping.removed.map { "\($0.name) > -" }
  }

  private static func lines(_ source: String, _ target: String) throws -> [String] {
    try lines(ModelMapping(from: model(source), to: model(target)))
  }

  private static func refusal(_ source: String, _ target: String) throws -> String {
    let source = try model(source), target = try model(target)
    do throws(Failure) { _ = try ModelMapping(from: source, to: target) } catch {
      #expect(error.kind == .unsupported)
      return error.message.string
    }
    return ""
  }

  // MARK: What is the same

  @Test("A name is the same, an identifier names the former one or the identifier of that")
  func renaming() throws {
    let first = Self.entity("A", "", Self.text("a"))
    let second = Self.entity("B", "elementID='A'", Self.text("b", "optional='YES' elementID='a'"))
    let byFirst = Self.entity("C", "elementID='A'", Self.text("c", "optional='YES' elementID='a'"))
    let bySecond = Self.entity("C", "elementID='B'", Self.text("c", "optional='YES' elementID='b'"))
    #expect(try Self.lines(first, first) == ["A > A"])
    #expect(try Self.lines(first, second) == ["A > B", "A.a > B.b"])
    #expect(try Self.lines(second, byFirst) == ["B > C", "B.b > C.c"])
    #expect(try Self.lines(second, bySecond) == ["B > C", "B.b > C.c"])
    #expect(try Self.lines(first, byFirst) == ["A > C", "A.a > C.c"])
    // The chain is broken where a version in between is left out.
    #expect(try Self.lines(first, bySecond) == ["- > C", "A > -"])
    // Back again, by the identifier of the source.
    #expect(try Self.lines(second, first) == ["B > A", "B.b > A.a"])
  }

  @Test("What is renamed may leave its name to something new, and two may change their names")
  func exchange() throws {
    let source = Self.entity("A", "", Self.text("a") + Self.text("b"))
    #expect(
      try Self.lines(source, Self.entity("A", "", Self.text("a") + Self.text("c", "optional='YES' elementID='a'")))
        == ["A > A", "- > A.a", "A.a > A.c"])
    #expect(
      try Self.lines(
        source,
        Self.entity(
          "A", "", Self.text("a", "optional='YES' elementID='b'") + Self.text("b", "optional='YES' elementID='a'")))
        == ["A > A", "A.b > A.a", "A.a > A.b"])
    #expect(
      try Self.lines(
        Self.entity("A") + Self.entity("B"),
        Self.entity("A", "elementID='B'") + Self.entity("B", "elementID='A'")) == ["B > A", "A > B"])
  }

  @Test("An identifier that names nothing is as none")
  func strangeIdentifier() throws {
    let source = Self.entity("A", "", Self.text("a"))
    let target = Self.entity("A", "elementID='Z'", Self.text("a", "optional='YES' elementID='z'"))
    #expect(try Self.lines(source, target) == ["A > A"])
  }

  @Test("Entities come and go, and get parents and children; properties move along")
  func trees() throws {
    let flat = Self.entity("A", "", Self.text("a")) + Self.entity("B", "", Self.text("b"))
    #expect(
      try Self.lines(flat, Self.entity("B", "", Self.text("b")) + Self.entity("C")) == ["B > B", "- > C", "A > -"])
    let withParent = Self.entity("A", "parentEntity='P'") + Self.entity("P", "isAbstract='YES'", Self.text("a"))
    #expect(try Self.lines(flat, withParent) == ["A > A", "A.a > A.a", "- > P", "B > -"])
    let tree =
      Self.entity("P", "", Self.text("a")) + Self.entity("C", "parentEntity='P'") + Self.entity("D", "parentEntity='P'")
    let down =
      Self.entity("P") + Self.entity("C", "parentEntity='P'", Self.text("a"))
      + Self.entity("D", "parentEntity='P'", Self.text("a"))
    #expect(try Self.lines(tree, down) == ["P > P", "C > C", "P.a > C.a", "D > D", "P.a > D.a"])
    #expect(try Self.lines(down, tree) == ["P > P", "- > P.a", "C > C", "C.a > C.a", "D > D", "D.a > D.a"])
    // Out of the tree.
    let apart = Self.entity("P", "", Self.text("a")) + Self.entity("C", "", Self.text("a"))
    #expect(try Self.lines(tree, apart) == ["C > C", "P.a > C.a", "P > P", "D > -"])
  }

  @Test("Relationships come, go, and become to-many or ordered")
  func relationships() throws {
    let one = Self.entity("A", "", Self.toOne("b", "B")) + Self.entity("B")
    let many = Self.entity("A", "", Self.toMany("b", "B", "ordered='YES'")) + Self.entity("B")
    #expect(try Self.lines(one, many) == ["A > A", "B > B"])
    let withInverse =
      Self.entity("A", "", Self.toOne("b", "B", "inverseName='a' inverseEntity='B'"))
      + Self.entity("B", "", Self.toMany("a", "A", "inverseName='b' inverseEntity='A'"))
    #expect(try Self.lines(one, withInverse) == ["A > A", "B > B", "- > B.a"])
    #expect(try Self.lines(withInverse, one) == ["A > A", "B > B"])
    #expect(try Self.lines(Self.entity("A") + Self.entity("B"), one) == ["A > A", "- > A.b", "B > B"])
    // The destination has got a parent, which it is now said to be.
    let parent =
      Self.entity("A", "", Self.toOne("b", "P")) + Self.entity("B", "parentEntity='P'") + Self.entity("P")
    #expect(try Self.lines(one, parent) == ["A > A", "B > B", "- > P"])
  }

  @Test("What needs a value has one: a default, what the store calculates, or what was there")
  func values() throws {
    let source = Self.entity("A", "", Self.text("a"))
    let target = Self.entity(
      "A", "",
      Self.text("a", "defaultValueString='x'") + Self.text("b", "defaultValueString='y'")
        + Self.text("c", "derived='YES' derivationExpression='uppercase:(a)'"))
    #expect(try Self.lines(source, target) == ["A > A", "- > A.b", "- > A.c"])
    // No objects can be without one.
    #expect(
      try Self.lines(Self.entity("P", "isAbstract='YES'"), Self.entity("P", "isAbstract='YES'", Self.text("a", "")))
        == ["P > P", "- > P.a"])
    // What was transient has no values; what becomes transient needs none.
    #expect(
      try Self.refusal(
        Self.entity("A", "", Self.text("a", "transient='YES'")), Self.entity("A", "", Self.text("a", ""))
      ).contains("'A.a' is new and neither optional nor has a default"))
    #expect(try Self.lines(source, Self.entity("A", "", Self.text("a", "transient='YES'"))) == ["A > A"])
  }

  // MARK: What is refused

  private struct Refusal {
    let source: String, target: String, message: String

    init(_ source: String, _ target: String, _ message: String) {
      self.source = source
      self.target = target
      self.message = message
    }
  }

  private static let refusals: [Refusal] = [
    Refusal(
      entity("A", "", text("a")), entity("A", "", "<attribute name='a' optional='YES' attributeType='Integer 64'/>"),
      "'A.a' is of type Integer 64, and was of type String. Add an attribute with another name, and set it in a "
        + "stage whose model has both."
    ),
    Refusal(
      entity("A"), entity("A", "", text("a", "")),
      "'A.a' is new and neither optional nor has a default, so that the objects of 'A' have no value for it. Give it a "
        + "default, or make it optional."
    ),
    Refusal(
      entity("A", "", text("a")), entity("A", "", text("a", "")),
      "'A.a' was optional and is not, and has no default for objects without a value. Give it one."
    ),
    Refusal(
      entity("A", "", text("a")), entity("A", "", toOne("a", "A")),
      "'A.a' is a to-one relationship, and was an attribute. Give it another name to have a new one."
    ),
    Refusal(
      entity("A", "", toMany("a", "A")), entity("A", "", toOne("a", "A")),
      "'A.a' is to-one, and was to-many. Which of several objects it is to be cannot be inferred. Add a relationship "
        + "with another name, and set it in a stage whose model has both."
    ),
    Refusal(
      entity("A", "", toOne("b", "B")) + entity("B") + entity("C"),
      entity("A", "", toOne("b", "C")) + entity("B") + entity("C"),
      "'A.b' leads to 'C', and has led to 'B', whose objects become those of 'B'. Add a relationship with another "
        + "name, and set it in a stage whose model has both."
    ),
    Refusal(
      entity("A", "", toMany("a", "A")), entity("A", "", toMany("a", "A", "inverseName='a' inverseEntity='A'")),
      "'A.a' is its own inverse, and was not. Objects that refer to others would be referred to by them. Give it "
        + "another name, and set it in a stage whose model has both."
    ),
    Refusal(
      entity("A", "", toOne("b", "B")) + entity("B", "", toMany("a", "A")),
      entity("A", "", toOne("b", "B", "inverseName='a' inverseEntity='B'"))
        + entity("B", "", toMany("a", "A", "inverseName='b' inverseEntity='A'")),
      "'A.b' and 'B.a' are each other's inverse, and were not. What the objects refer to by one need not be what they "
        + "refer to by the other. Give one of them another name, and set it in a stage whose model has both."
    ),
    Refusal(
      entity("A"), entity("A", "isAbstract='YES'"),
      "Entity 'A' is abstract, so that the objects of 'A' cannot become its objects. Make it concrete, or leave the "
        + "entity out to delete them."
    ),
    Refusal(
      entity("A") + entity("B"), entity("A") + entity("B", "parentEntity='A'"),
      "Entities 'A' and 'B' have a common ancestor, 'A', and had none. Their objects have equal keys, which one table "
        + "cannot have. Leave one of them as it was."
    ),
    Refusal(
      entity("A"), entity("B", "elementID='A'") + entity("C", "elementID='A'"),
      "Entities 'B' and 'C' both have the renaming identifier 'A'. Give it to the one that the objects become."
    ),
    Refusal(
      entity("A", "", text("a")),
      entity("A", "", text("b", "optional='YES' elementID='a'") + text("c", "optional='YES' elementID='a'")),
      "'A.b' and 'A.c' both have the renaming identifier 'a'. Give it to the one that the values become."
    ),
    Refusal(
      entity(
        "A", "", "<attribute name='a' optional='YES' attributeType='Binary' allowsExternalBinaryDataStorage='YES'/>"),
      entity("A", "", "<attribute name='a' optional='YES' attributeType='Binary'/>"),
      "'A.a' lies in the store, and may have lain in files. Add an attribute with another name, and set it in a "
        + "stage whose model has both."
    ),
  ]

  @Test("What cannot be inferred is refused, with the offender, the reason and the remedy")
  func refusals() throws {
    for refusal in Self.refusals {
      let message = try Self.refusal(refusal.source, refusal.target)
      #expect(message.hasSuffix(refusal.message) && !refusal.message.isEmpty, "\(message)")
    }
  }

  @Test("An inverse that is another relationship is refused, and one that was renamed is the same")
  func inverses() throws {
    func model(_ inverse: String, _ others: String, _ attributes: String = "") -> String {
      Self.entity("A", "", Self.toOne("b", "B", "inverseName='\(inverse)' inverseEntity='B'"))
        + Self.entity("B", "", Self.toMany(inverse, "A", "inverseName='b' inverseEntity='A' \(attributes)") + others)
    }
    let source = model("x", Self.toMany("y", "A"))
    #expect(
      try Self.refusal(source, model("y", Self.toMany("x", "A"))).hasSuffix(
        "The inverse of 'A.b' is 'B.y', and was 'B.x'. Name the one as the renaming identifier of the other if it is "
          + "the same."))
    #expect(
      try Self.lines(source, model("z", Self.toMany("y", "A"), "elementID='x'")) == ["A > A", "B > B", "B.x > B.z"])
  }

  // MARK: Models of applications

  private static let migrations: [(path: String, from: String, to: String, lines: Set<String>)] = [
    (
      "stores/coredataplus-samplemodel/SampleModel.xcdatamodeld/", "SampleModel", "SampleModel2",
      ["ExpensiveSportCar > LuxuryCar"]
    ),
    (
      "stores/coredatamigration-example/CoreDataMigration_Example.xcdatamodeld/", "CoreDataMigration_Example",
      "CoreDataMigration_Example 2", ["Post.color > Post.hexColor"]
    ),
    ("stores/duckduckgo-bookmarks/BookmarksModel.xcdatamodeld/", "BookmarksModel", "BookmarksModel 2", []),
    ("stores/duckduckgo-bookmarks/BookmarksModel.xcdatamodeld/", "BookmarksModel", "BookmarksModel 6", []),
  ]

  @Test("Versions of models of applications are found again", .enabled(if: SharedModels.isThere), arguments: 0..<4)
  func applications(_ number: Int) throws {
    let (path, from, to, expected) = Self.migrations[number]
    func load(_ name: String) throws -> Model {
      let model = try ModelFile.load(path: Text("\(SharedModels.data)\(path)\(name).xcdatamodel/contents"))
      try model.freeze()
      return model
    }
    let mapping = try ModelMapping(from: load(from), to: load(to))
    #expect(mapping.removed.isEmpty)
    #expect(expected.isSubset(of: Self.lines(mapping)), "\(Self.lines(mapping))")
    #expect(mapping.entities.count == mapping.source.entities.count)
  }
}
