import Testing

@testable import QuireCore

/// What models of files may have, and no call declares.
@Suite("Declarations that are kept for files")
struct KeptDeclarationTests {
  private func model(_ attributes: String, _ rest: String = "") throws -> Model {
    let text = """
      <model><entity name="Item">\(attributes)
      <attribute name="price" attributeType="Double"/><attribute name="near" transient="YES"/>
      <relationship name="parts" optional="YES" toMany="YES" destinationEntity="Part" inverseName="item"/></entity>
      <entity name="Part"><relationship name="item" maxCount="1" destinationEntity="Item" inverseName="parts"/></entity>
      \(rest)</model>
      """
    let model = try XMLModelReader.model(of: Bytes(text.utf8), "The model")
    try model.freeze()
    return model
  }

  private func saved(_ model: Model) throws -> Model {
    let again = try XMLModelReader.model(of: XMLModelWriter.contents(of: model), "The model")
    try again.freeze()
    return again
  }

  private func attribute(_ model: Model, _ name: String) throws -> Attribute {
    try #require(try model.entity(named: "Item").propertiesByName[name] as? Attribute)
  }

  @Test("Functions of what a relationship holds are operators", arguments: [
    ("count:(parts)", "Integer 64"), ("sum:( parts.item.price )", "Double"), ("parts.@count", "Integer 32"),
  ])
  func functions(_ text: String, _ type: String) throws {
    let model = try self.model(
      "<attribute name=\"total\" attributeType=\"\(type)\" derived=\"YES\" derivationExpression=\"\(text)\"/>")
    let total = try attribute(saved(model), "total")
    #expect(total.derivation?.text.string == text && total.derivation?.operation != .unknown)
    #expect((total.derivationProblem == nil) == (text != "sum:( parts.item.price )"))
  }

  @Test("A derivation that is not calculated is kept, and no store is made with it", arguments: [
    "median:(parts.size)", "price + 1", "near", "gone.name", "%%",
  ])
  func derivations(_ text: String) throws {
    let model = try self.model(
      "<attribute name=\"total\" attributeType=\"Double\" optional=\"YES\" defaultValueString=\"2.5\" "
        + "derived=\"YES\" derivationExpression=\"\(text)\"/>")
    let total = try attribute(saved(model), "total")
    #expect(total.derivation?.text.string == text)
    #expect(total.declaredDefault.isIdentical(to: .double(2.5)))
    #expect(total.derivationProblem != nil)
    #expect(try ModelSummary.lines(of: saved(model)) == ModelSummary.lines(of: model))
    let failure = try #require(throws: Failure.self) { try Store.open(path: ":memory:", model: model).close() }
    #expect(failure.kind == .unsupported && failure.message.string.contains("Item.total"))
  }

  @Test("A filter of a derivation comes back from an archive and from XML")
  func filter() throws {
    let model = try self.model(
      "<attribute name=\"total\" attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"count:(parts)\">"
        + "<derivationFilter predicateString=\"price &gt; 3\"/></attribute>")
    let cached = try ModelFile.model(deflated: ModelFile.deflated(model), "it")
    for found in [model, try saved(model), cached, try saved(cached)] {
      let kept = try #require(try attribute(found, "total").derivation?.source as? ArchivedDerivation)
      #expect(kept.filter?.text == "price > 3")
      #expect(kept.expression == .function("count:", [.keyPath(["parts"])]))
      #expect(throws: Failure.self) { try Store.open(path: ":memory:", model: found) }
    }
  }

  @Test("Composite attributes have elements, and no store")
  func composites() throws {
    let place = "<attribute name=\"place\" attributeType=\"Composite\" composite=\"Place\" optional=\"YES\"/>"
    let composites = """
      <composite name="Place"><attribute name="x" attributeType="Double" optional="YES" defaultValueString="1"/>
      <attribute name="inner" attributeType="Composite" composite="Inner"/></composite>
      <composite name="Inner"><attribute name="label" attributeType="String" maxValueString="9"/></composite>
      """
    let model = try self.model(place, composites)
    for found in [model, try saved(model)] {
      let made = try attribute(found, "place")
      #expect(made.type == .composite && made.composition?.name == "Place")
      let elements = try #require(made.composition?.elements)
      #expect(elements.map(\.name) == ["x", "inner"])
      #expect(elements[0].declaredDefault.isIdentical(to: .double(1)))
      #expect(elements[1].composition?.elements.map(\.rules.maximumLength) == [9])
    }
    #expect(try ModelSummary.lines(of: saved(model)) == ModelSummary.lines(of: model))
    #expect(try ModelSummary.hashes(of: saved(model)) == ModelSummary.hashes(of: model))
    let failure = try #require(throws: Failure.self) { try Store.open(path: ":memory:", model: model).close() }
    #expect(failure.kind == .unsupported && failure.message.string.contains("Item.place"))
  }

  @Test("Composites within themselves, without end and without a name are refused")
  func hostileComposites() {
    let place = "<attribute name=\"place\" attributeType=\"Composite\" composite=\"C0\"/>"
    func composite(_ name: String, _ inner: [String]) -> String {
      let parts = inner.enumerated().map {
        "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"\($1)\"/>"
      }
      return "<composite name=\"\(name)\">\(parts.joined())</composite>"
    }
    let bomb = (0..<15).map { composite("C\($0)", Array(repeating: "C\($0 + 1)", count: 10)) }.joined()
    let deep = (0..<40).map { composite("C\($0)", ["C\($0 + 1)"]) }.joined()
    for rest in ["", composite("C0", ["C0"]), composite("C0", ["C1"]) + composite("C1", ["C0"]), bomb, deep] {
      #expect(throws: Failure.self) { try model(place, rest) }
    }
  }

  @Test("A class of values, an encryption and lengths of zero are kept")
  func traits() throws {
    let model = try self.model(
      "<attribute name=\"list\" attributeType=\"Binary\" customClassName=\"NSString\" allowsCloudEncryption=\"YES\"/>"
        + "<attribute name=\"note\" attributeType=\"String\" customClassName=\"NSString\" minValueString=\"0\"/>"
        + "<attribute name=\"key\" attributeType=\"Integer 16\" indexed=\"YES\"/>")
    let cached = try ModelFile.model(deflated: ModelFile.deflated(model), "it")
    for found in [model, try saved(model), cached, try saved(cached)] {
      let list = try attribute(found, "list"), note = try attribute(found, "note")
      #expect(list.traits.valueClassName == "NSString" && list.traits.allowsCloudEncryption)
      #expect(note.traits.valueClassName.isEmpty && note.rules.minimumLength == 0 && note.rules.maximumLength == nil)
      #expect(try attribute(found, "key").isIndexed)
      let statement = "CREATE INDEX Z_Item_key ON ZITEM (ZKEY COLLATE BINARY ASC)"
      #expect(try Schema(model: found).statements().contains(statement))
    }
    #expect(try model.entity(named: "Item").fetchIndexes.isEmpty)
    #expect(try ModelSummary.lines(of: cached) == ModelSummary.lines(of: model))
  }
}
