import FoundationEssentials
import Testing

@testable import QuireCore

@Suite("Models in files")
struct ModelFileTests {
  /// Everything that a model can say, as Xcode writes it.
  static let contents = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="v1">
      <entity name="Item" representedClassName="App.Item" isAbstract="YES" versionHashModifier="m" elementID="Thing">
        <attribute name="title" attributeType="String" optional="YES" defaultValueString="a &amp; &quot;b&quot;&#10;c"
          minValueString="1" maxValueString="90" regularExpressionString="[a-z]+" elementID="name"/>
        <attribute name="self" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="size" attributeType="Integer 16" minValueString="-3" maxValueString="12.0"/>
        <attribute name="price" attributeType="Decimal" defaultValueString="12.50" indexed="YES"/>
        <attribute name="weight" attributeType="Float" defaultValueString="0.1"/>
        <attribute name="when" attributeType="Date" defaultDateTimeInterval="-1.5" minDateTimeInterval="-1e9"/>
        <attribute name="key" attributeType="UUID" defaultValueString="12345678-1234-4234-8234-123456789012"/>
        <attribute name="link" attributeType="URI" defaultValueString="https://example.org"/>
        <attribute name="photo" attributeType="Binary" allowsExternalBinaryDataStorage="YES"
          preserveAfterDeletion="YES"/>
        <attribute name="cover" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData"
          customClassName="App.Cover"/>
        <attribute name="scratch" transient="YES" optional="YES"/>
        <attribute name="count" attributeType="Integer 64" optional="YES" derived="YES"
          derivationExpression="parts.@count"/>
        <relationship name="parts" optional="YES" toMany="YES" ordered="YES" minCount="0" maxCount="7"
          deletionRule="Cascade" destinationEntity="Part" inverseName="item" inverseEntity="Part"/>
        <fetchedProperty name="dear" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Item"
            predicateString="price &gt; $FETCH_SOURCE.price AND title ==[cd] &quot;x&quot;"/>
        </fetchedProperty>
        <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="descending"/></fetchIndex>
        <fetchIndex name="byTitle" partialIndexPredicate="size &gt; 3">
          <fetchIndexElement expression="self" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="box"><fetchIndexElement property="size" type="RTree" order="ascending"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint>
          <constraint value="key"/><constraint value="title"/>
        </uniquenessConstraint></uniquenessConstraints>
        <userInfo><entry key="a.b" value="c"/></userInfo>
        <compoundIndexes><compoundIndex><index value="size"/><index value="when"/></compoundIndex></compoundIndexes>
      </entity>
      <entity name="Book" parentEntity="Item" syncable="YES"/>
      <entity name="Part">
        <relationship name="item" minCount="1" maxCount="1" deletionRule="Nullify" destinationEntity="Item"
          inverseName="parts" inverseEntity="Item"/>
      </entity>
      <fetchRequest name="cheap" entity="Item" predicateString="price &lt; $limit" fetchLimit="5" fetchBatchSize="20"/>
      <fetchRequest name="odd" entity="Item" predicateString="this is ; no predicate"/>
      <configuration name="Local"><memberEntity name="Item"/><memberEntity name="Book"/></configuration>
      <elements><element name="Item" positionX="0" positionY="0" width="128" height="44"/></elements>
    </model>
    """

  private func model() throws -> Model {
    let model = try XMLModelReader.model(of: Bytes(ModelFileTests.contents.utf8), "The model")
    try model.freeze()
    return model
  }

  @Test("XML is read in full")
  func xml() throws {
    let model = try self.model()
    let item = try model.entity(named: "Item")
    #expect(item.className == "App.Item" && item.isAbstract && item.renamingIdentifier == "Thing")
    func attribute(_ name: String) throws -> Attribute { try #require(item.propertiesByName[name] as? Attribute) }
    let title = try attribute("title")
    #expect(title.defaultValue.isIdentical(to: .text("a & \"b\"\nc")))
    #expect(title.rules.minimumLength == 1 && title.rules.maximumLength == 90 && title.rules.pattern == "[a-z]+")
    #expect(title.renamingIdentifier == "name")
    #expect(try attribute("self").defaultValue.isIdentical(to: .boolean(true)))
    #expect(try attribute("size").rules.minimum.isIdentical(to: .integer(-3)))
    #expect(try attribute("size").rules.maximum.isIdentical(to: .integer(12)))
    #expect(try attribute("when").defaultValue.isIdentical(to: .date(-1.5)))
    #expect(try attribute("photo").traits.allowsExternalStorage)
    #expect(try attribute("count").derivation?.operation == .count)
    #expect(item.fetchIndexes.map(\.name) == ["byTitle", "byTitle", "box", "compoundIndex"])
    #expect(try attribute("price").isIndexed)
    // The entity has fetch indexes, beside which none is implied.
    #expect(item.impliedIndexes.isEmpty)
    #expect(item.fetchIndexes[2].kind == .rTree)
    #expect(model.versionIdentifiers == ["v1"])
    #expect(item.userInfo.entries.map(\.value) == ["c"])
    let parts = try #require(item.propertiesByName["parts"] as? Relationship)
    #expect(parts.isOrdered && parts.maximumCount == 7 && parts.deleteRule == .cascade)
  }

  @Test("What the language does not have is kept, and refused where it is used")
  func unreadable() throws {
    let model = try self.model()
    let request = try model.request(fromTemplate: "odd", variables: [:])
    let predicate = try #require(request.predicate)
    #expect(predicate.unreadableText == "this is ; no predicate")
    #expect(throws: Failure.self) { try PredicateEvaluator(predicate) }
  }

  @Test("XML and archives of a model are the same model")
  func roundTrips() throws {
    let model = try self.model(), lines = try ModelSummary.lines(of: model)
    let again = try XMLModelReader.model(of: XMLModelWriter.contents(of: model), "The model")
    #expect(try ModelSummary.lines(of: again) == lines)
    let deflated = try ModelFile.deflated(model)
    let cached = try ModelFile.model(deflated: deflated, "the store")
    #expect(try ModelSummary.lines(of: cached) == lines)
    #expect(try ModelSummary.hashes(of: cached) == ModelSummary.hashes(of: model))
    #expect(try ModelFile.deflated(cached) == ModelFile.deflated(try ModelFile.model(deflated: deflated, "it")))
  }

  @Test("Predicates come back from archives", arguments: [
    "a == 1 AND (b != nil OR NOT c BEGINSWITH[cd] \"x\")", "ANY books.title LIKE \"*a\"", "ALL x.y > 2.5",
    "a.b.@count > 3", "SUBQUERY(books, $b, $b.pages > 300).@count == 1", "a BETWEEN {1, 2}", "a IN {b, $c, \"d\"}",
    "SELF CONTAINS \"title\"", "length:(name) > 2", "a + b * 2 == -c", "TERNARY(a == 1, b, c) == 2",
    "x UNION y == z", "a[FIRST] == 1", "a[3] == 1", "a MATCHES \"[a-z]\"", "TRUEPREDICATE", "$x.name == SELF",
    "CAST(1.5, \"NSDate\") < when", "now() > when",
  ])
  func predicates(_ text: String) throws {
    let predicate = try Predicate.parse(Text(text), arguments: [])
    var encoder = ArchiveEncoder()
    let root = PredicateWriter.predicate(predicate, &encoder)
    let bytes = try #require(encoder.archive(of: root))
    let node = try #require(try KeyedArchive(bytes, "It").root)
    let read = try PredicateReader(limit: ReadingLimit(size: bytes.count, "It")).predicate(node)
    #expect(read == predicate, "\(read.text)")
  }

  @Test("A predicate within itself is refused")
  func cycle() throws {
    var encoder = ArchiveEncoder()
    let place = encoder.reserve(), list = encoder.list([place])
    encoder.set(place, "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": list])
    let bytes = try #require(encoder.archive(of: place))
    let node = try #require(try KeyedArchive(bytes, "It").root)
    #expect(throws: Failure.self) {
      try PredicateReader(limit: ReadingLimit(size: bytes.count, "It")).predicate(node)
    }
  }

  @Test("Hostile XML is refused")
  func hostile() {
    let entities = "<!DOCTYPE m [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><model><entity name=\"&b;\"/></model>"
    let deep = String(repeating: "<a>", count: 100_000)
    let external = "<!DOCTYPE m SYSTEM \"file:///etc/passwd\"><model/>"
    for text in [entities, deep, external, "", "<", "<model>", "<plist/>", "<model><entity/></model>", "<model/>\0"] {
      #expect(throws: Failure.self, "\(text.prefix(40))") {
        try XMLModelReader.model(of: Bytes(text.utf8), "The model").freeze()
      }
    }
  }

  @Test("Changed, cut and spliced bytes are an error or a model")
  func damaged() throws {
    var dice = Dice(seed: 18)
    let model = try self.model()
    let archive = try #require(ModelWriter.archive(of: model))
    let other = try #require(PropertyListValue.array([.uid(1), .text("NSEntityName"), .integer(-1)]).binary)
    let cached = try ModelFile.deflated(model), xml = try XMLModelWriter.contents(of: model)
    func changed(_ bytes: Bytes) -> Bytes {
      var bytes = Array(bytes.buffer)
      switch dice.roll(4) {
      case 0: bytes = Array(bytes.prefix(dice.roll(bytes.count)))
      case 1:
        let start = dice.roll(bytes.count), end = min(bytes.count, start + dice.roll(60))
        bytes.replaceSubrange(start..<end, with: bytes[dice.roll(bytes.count)...].prefix(dice.roll(60)))
      case 2: bytes.insert(contentsOf: Array(other.buffer), at: dice.roll(bytes.count))
      default:
        for _ in 0...dice.roll(8) { bytes[dice.roll(bytes.count)] = UInt8(dice.roll(256)) }
      }
      return Bytes(bytes)
    }
    var loaded = 0
    for _ in 0..<400 {
      for load in [
        { try ModelReader.model(of: changed(archive), "It").freeze() },
        { _ = try ModelFile.model(deflated: changed(cached), "it") },
        { try XMLModelReader.model(of: changed(xml), "It").freeze() },
        { _ = try ArchiveDecoder.item(of: changed(archive)) },
      ] as [() throws -> Void] {
        do {
          try load()
          loaded += 1
        } catch { #expect(error is Failure) }
      }
    }
    #expect(loaded > 0)
  }

  @Test("References of an archive that lead elsewhere are an error or a model")
  func redirected() throws {
    var dice = Dice(seed: 81)
    let archive = try #require(ModelWriter.archive(of: try self.model()))
    let list = try #require(PropertyListValue(binary: archive))
    let objects = try #require(list["$objects"]?.array)
    func redirected(_ value: PropertyListValue) -> PropertyListValue {
      switch value {
      case .uid: dice.roll(40) == 0 ? .uid(UInt64(dice.roll(objects.count))) : value
      case .array(let values): .array(values.map(redirected))
      case .dictionary(let fields): .dictionary(fields.mapValues(redirected))
      default: value
      }
    }
    for _ in 0..<150 {
      var changed = try #require(list.dictionary)
      changed["$objects"] = .array(objects.map(redirected))
      let bytes = try #require(PropertyListValue.dictionary(changed).binary)
      try? ModelReader.model(of: bytes, "It").freeze()
      _ = try? ArchiveDecoder.item(of: bytes)
    }
  }

  @Test("A saved source is a folder, and the current version of several is found")
  func folders() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-models-\(UUID().uuidString)")
    let versions = folder.appending(path: "M.xcdatamodeld")
    try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> Text { Text(versions.appending(path: name).path(percentEncoded: false)) }
    let first = Model(), second = try self.model()
    try first.addEntity(named: "Only")
    try ModelFile.save(first, to: path("M.xcdatamodel"))
    try ModelFile.save(first, to: path("M.xcdatamodel"))
    #expect(try ModelFile.load(path: Text(versions.path())).entities.map(\.name) == ["Only"])
    try ModelFile.save(second, to: path("M 2.xcdatamodel"))
    // Two, and none is current.
    #expect(throws: Failure.self) { try ModelFile.load(path: Text(versions.path())) }
    let current = """
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>M 2.xcdatamodel</string></dict></plist>
      """
    try Data(current.utf8).write(to: versions.appending(path: ".xccurrentversion"))
    #expect(try ModelFile.load(path: Text(versions.path())).entities.count == 3)
    #expect(try ModelFile.load(path: Text(versions.path()), version: "M").entities.count == 1)
    #expect(try ModelFile.load(path: path("M 2.xcdatamodel/contents")).entities.count == 3)
    for bad in ["N", "../M", ""] {
      #expect(throws: Failure.self) { try ModelFile.load(path: Text(versions.path()), version: bad) }
    }
    #expect(throws: Failure.self) { try ModelFile.save(first, to: path("M.other")) }
    #expect(throws: Failure.self) { try ModelFile.load(path: path("missing")) }
  }
}
