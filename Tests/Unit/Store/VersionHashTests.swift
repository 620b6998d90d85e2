import Testing

@testable import QuireCore

@Suite("Version hashes")
struct VersionHashTests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func hashes(_ model: Model) throws -> [String: String] {
    try model.freeze()
    return Dictionary(
      uniqueKeysWithValues: VersionHash(model: model).byName.map { ($0.name, hexadecimal($0.hash)) })
  }

  private func add(
    _ name: String, to entity: String, _ type: AttributeType, in model: Model, isOptional: Bool = true,
    isTransient: Bool = false, modifier: String = ""
  ) throws {
    try model.addAttribute(
      named: name, to: entity, type: type, isOptional: isOptional, isTransient: isTransient,
      versionHashModifier: Text(modifier))
  }

  /// A model whose store was written by Core Data; the hashes were read from that file.
  private func bookmarks() throws -> Model {
    let sketch = ModelSketch()
    let name = "BookmarkEntity"
    try sketch.entity(name, ["modifiedAt": .date, "title": .string])
    try add("uuid", to: name, .string, in: sketch.model, isOptional: false, modifier: "3")
    try add("isFolder", to: name, .boolean, in: sketch.model, isOptional: false)
    try add("isPendingDeletion", to: name, .boolean, in: sketch.model, modifier: "3")
    try add("url", to: name, .string, in: sketch.model, modifier: "3")
    try sketch.toOne("\(name).parent", "\(name).children")
    try sketch.toMany("\(name).children", "\(name).parent", isOrdered: true)
    try sketch.toMany("\(name).favorites", "\(name).favoriteFolders", isOrdered: true)
    try sketch.toMany("\(name).favoriteFolders", "\(name).favorites")
    return sketch.model
  }

  @Test("Modifiers, ordered and many-to-many relationships hash as in a store of Core Data")
  func ordered() throws {
    let model = try bookmarks()
    #expect(
      try hashes(model) == [
        "BookmarkEntity": "6a086c9544c0adc6674e37b1a2cd4bc7edcd94de224c61fc603864844cb5f8f6"
      ])
    let hash = VersionHash(model: model)
    #expect(
      hash.digest
        == "f3zhRcli1vU1KL1eGWk+BkpW5eZLLlkgDMaIRfi7mC3a9eGmHvJvEoHfMAaXAYLC9Ua3nas4g1P8aXw0xiQM2g==")
    #expect(hash.checksum == "iheL242Wk4NBM9JCcDWZC7hP4J9Hv8iA7W0XzuNEkZc=")
  }

  @Test("Inheritance and uniqueness constraints hash as in a store of Core Data")
  func inheritance() throws {
    let sketch = ModelSketch()
    try sketch.entity("Car", ["model": .string, "markedForDeletionAsOf": .date, "maker": .string])
    try add("numberPlate", to: "Car", .string, in: sketch.model, isOptional: false)
    try sketch.entity("SportCar", parent: "Car")
    try sketch.entity("LuxuryCar", parent: "SportCar", ["isLimitedEdition": .boolean])
    try sketch.entity("Person", ["firstName": .string, "lastName": .string])
    try add("updatedAt", to: "Person", .date, in: sketch.model, isOptional: false)
    try sketch.toOne("Car.owner", "Person.cars")
    try sketch.toMany("Person.cars", "Car.owner")
    try sketch.model.addUniquenessConstraint(to: "Car", properties: ["numberPlate"])
    try sketch.model.addUniquenessConstraint(to: "Person", properties: ["firstName", "lastName"])
    #expect(
      try hashes(sketch.model) == [
        "Car": "7e503efbf4b63cd93ff729e9675e21c63c65262d85a9889f59a2440af6481b93",
        "SportCar": "722a55b5bbcd51d74876a4dd8f8f7bbde57ddc61cb65a577ec5b0fbe978d7b8c",
        "LuxuryCar": "a873c5590010e4ea3f7bdf846786dfbf5cb095526b86aa0de2c569c4bb121886",
        "Person": "067ae62e1bd1014cb6559d990803ae58f354dd1b7ba7b7722a361c0c39f2134e",
      ])
    #expect(
      VersionHash(model: sketch.model).digest
        == "gA/GyOCh8sMDKPJBWGZpv2usq+rU1r4MjgwPc9tbafDh4RTvoBOjSnmanNvWopksmy/criJNqsnPcAZkTmEa7Q==")
  }

  /// Values computed with another program from the written rules.
  @Test("Abstract, transient, self-inverse and bounded relationships hash by the rules")
  func everyRule() throws {
    let sketch = ModelSketch()
    let model = sketch.model
    try sketch.entity("Item", isAbstract: true)
    try add("title", to: "Item", .string, in: model, isOptional: false)
    try add("hidden", to: "Item", .string, in: model, isTransient: true)
    try sketch.entity("Note", parent: "Item", modifier: "2")
    try add("rank", to: "Note", .integer16, in: model, modifier: "r")
    try sketch.toMany("Note.peers", "Note.peers")
    try model.addRelationship(
      {
        Relationship(
          name: "tags", entity: $0, destinationName: "Tag", inverseName: "notes", isToMany: true,
          isOrdered: true, minimumCount: 1, maximumCount: 5)
      }, named: "tags", to: "Note")
    try sketch.entity("Tag")
    try sketch.toMany("Tag.notes", "Note.tags")
    try sketch.toOne("Tag.first", "Note")
    try model.addUniquenessConstraint(to: "Note", properties: ["title", "rank"])
    try model.addUniquenessConstraint(to: "Note", properties: ["rank"])
    #expect(
      try hashes(model) == [
        "Item": "b413181533c68312ac03bd7b42c08685a8a7f58b3f455ef1a446d5b541113e34",
        "Note": "e7ba2dca64cc79a1ad622cd22d9fc2012d0fe445c666ad1e2b731a4d6a79a9aa",
        "Tag": "7897589f6128293b1299c96cea78ee3ed5b45a50f77424a4064be35590725405",
      ])
    let hash = VersionHash(model: model)
    #expect(
      hash.digest
        == "OkBWDaW/0a7Gvx/R+bKhUfD/TLLNVtZoAlUrFIoYbe4NPZYnLDvwhVNZ3mZGFNCVX6csv/EhLrcvGw7GgrVFwQ==")
    #expect(hash.checksum == "LfkfQBmshBxZptKXS10RpRTw8M5vXfLs8TW1fxexLMc=")
  }

  @Test("Defaults, delete rules, fetch indexes and the order of declaration do not change a hash")
  func indifferent() throws {
    let plain = ModelSketch(), other = ModelSketch()
    try plain.entity("Note", ["a": .string, "b": .integer16])
    try plain.toOne("Note.next", "Note")
    try other.model.addEntity(named: "Note")
    try other.model.addRelationship(
      {
        Relationship(
          name: "next", entity: $0, destinationName: "Note", isOptional: true, deleteRule: .cascade)
      }, named: "next", to: "Note")
    try other.model.addAttribute(
      named: "b", to: "Note", type: .integer16, isOptional: true, defaultValue: .integer(7))
    try other.model.addAttribute(named: "a", to: "Note", type: .string, isOptional: true)
    try other.model.addFetchIndex(
      named: "byA", to: "Note", elements: [.init(property: "a", isDescending: false)])
    #expect(try hashes(plain.model) == hashes(other.model))
  }

  @Test("Base 64 pads one and two missing bytes")
  func base64() {
    let cases: KeyValuePairs = [
      "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=",
    ]
    for (input, output) in cases { #expect(Digest.base64(Array(input.utf8)) == output) }
    #expect(Digest.base64([0xFB, 0xFF, 0xFE]) == "+//+")
  }
}
