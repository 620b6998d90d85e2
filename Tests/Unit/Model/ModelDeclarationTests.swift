import Testing

@testable import QuireCore

@Suite("Declaring models")
struct ModelDeclarationTests {
  private static let words = [
    "true", "self", "null", "description", "hash", "_private", "9lives", "größe", "Name", "name",
  ]

  @Test("A model of a file takes names that a program is refused")
  func namesOfFiles() throws {
    let model = Model(origin: .file)
    try model.addEntity(named: "Odd")
    for word in ModelDeclarationTests.words { try model.addAttribute(named: word, to: "Odd", type: .string) }
    try model.addFetchIndex(named: "an index", to: "Odd", elements: [.init(.property("true"))])
    try model.freeze()
    #expect(try model.entity(named: "Odd").properties.map(\.name) == ModelDeclarationTests.words)
    let columns = Schema(model: model).tables[0].columns.map(\.name)
    #expect(Set(columns.map { $0.uppercased() }).count == columns.count)
    let declared = Model()
    try declared.addEntity(named: "Odd")
    for word in ModelDeclarationTests.words.dropLast(2) {
      #expect(throws: Failure.self) { try declared.addAttribute(named: word, to: "Odd", type: .string) }
    }
  }

  @Test("Names that would break the file are refused from anywhere", arguments: [ModelOrigin.program, .file])
  func brokenNames(origin: ModelOrigin) throws {
    let model = Model(origin: origin)
    for name in ["", "a b", "a-b", "a\"b", "_METADATA", "_primaryKey"] {
      #expect(throws: Failure.self) { try model.addEntity(named: name) }
    }
    try model.addEntity(named: "Fine")
    for name in ["", "a b", "a;b", "a\0b"] {
      #expect(throws: Failure.self) { try model.addAttribute(named: name, to: "Fine", type: .string) }
    }
  }

  @Test("A trait that means nothing for an attribute is refused in a program, and kept from a file")
  func traits() throws {
    let cases: [(AttributeType, Bool, AttributeTraits)] = [
      (.string, false, AttributeTraits(allowsExternalStorage: true)),
      (.binary, true, AttributeTraits(allowsExternalStorage: true)),
      (.string, true, AttributeTraits(preservesAfterDeletion: true)),
      (.binary, false, AttributeTraits(transformer: "T")), (.date, false, AttributeTraits(valueClassName: "C")),
    ]
    for (type, isTransient, traits) in cases {
      for origin in [ModelOrigin.program, .file] {
        let model = Model(origin: origin)
        try model.addEntity(named: "A")
        let add = { try model.addAttribute(named: "a", to: "A", type: type, isTransient: isTransient, traits: traits) }
        if origin == .file { _ = try add() } else { #expect(throws: Failure.self) { _ = try add() } }
      }
    }
  }

  @Test("No bound has two forms, which only the version hash tells apart")
  func unbounded() throws {
    func model(_ maximum: Int) throws -> Model {
      let model = Model()
      try model.addEntity(named: "A")
      try model.addRelationship(
        {
          Relationship(
            name: "others", entity: $0, destinationName: "A", isToMany: true, isOptional: true, maximumCount: maximum)
        }, named: "others", to: "A")
      try model.freeze()
      return model
    }
    let xcode = try model(0), code = try model(Relationship.unbounded)
    #expect(try xcode.versionHash(ofEntityNamed: "A") != code.versionHash(ofEntityNamed: "A"))
    #expect(code.entities[0].relationships[0].maximumCount == 0)
    #expect(throws: Failure.self) { try model(-2) }
  }

  @Test("User info replaces, and belongs to what declares it")
  func userInfo() throws {
    let model = Model()
    try model.addEntity(named: "Parent")
    try model.addEntity(named: "Child", parent: "Parent")
    try model.addAttribute(named: "a", to: "Parent", type: .string)
    try model.setUserInfo(of: "Parent", key: "k", to: "1")
    try model.setUserInfo(of: "Parent", key: "l", to: "")
    try model.setUserInfo(of: "Parent", key: "k", to: "2")
    try model.setUserInfo(of: "Parent", property: "a", key: "", to: "3")
    #expect(model.entities[0].userInfo.entries.map(\.value) == ["2", ""])
    #expect(model.entities[0].ownAttributes[0].userInfo.entries.map(\.value) == ["3"])
    #expect(throws: Failure.self) { try model.setUserInfo(of: "Child", property: "a", key: "k", to: "") }
    #expect(throws: Failure.self) { try model.setUserInfo(of: "Parent", property: "", key: "k", to: "") }
    try model.freeze()
    #expect(throws: Failure.self) { try model.setUserInfo(of: "Parent", key: "k", to: "") }
  }

  @Test("Configurations name entities that exist")
  func configurations() throws {
    let model = Model()
    try model.addEntity(named: "A")
    try model.addConfiguration(named: "Local", entityNames: ["A"])
    #expect(throws: Failure.self) { try model.addConfiguration(named: "Local", entityNames: []) }
    #expect(throws: Failure.self) { try model.addConfiguration(named: "", entityNames: []) }
    try model.addConfiguration(named: "Cloud", entityNames: ["A", "B"])
    #expect(throws: Failure.self) { try model.freeze() }
    try model.addEntity(named: "B")
    try model.freeze()
  }
}
