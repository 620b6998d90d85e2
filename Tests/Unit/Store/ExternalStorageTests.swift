import Testing

@testable import QuireCore

@Suite("External storage")
struct ExternalStorageTests {
  @Test("A file is named by a UUID in upper case and by nothing else")
  func names() {
    for _ in 0..<100 {
      let file = ExternalFile.random()
      #expect(file.name.utf8.count == ExternalFile.nameLength)
      #expect(ExternalFile(Array(file.name.utf8)) == file)
      #expect(ExternalFile(Array(file.name.lowercased().utf8)) == nil || file.name == file.name.lowercased())
    }
    for name in [
      "", "00000000-0000-4000-8000-00000000000", "00000000-0000-4000-8000-0000000000000",
      "0000000-00000-4000-8000-000000000000", "../../../../../../../../../../../../",
      "0000000G-0000-4000-8000-000000000000",
    ] {
      #expect(ExternalFile(Array(name.utf8)) == nil, "\(name)")
    }
  }

  @Test("A row names a file with a mark, the name and a NUL")
  func references() {
    let file = ExternalFile.random()
    let name = Array(file.name.utf8)
    func found(_ bytes: [UInt8]) -> ExternalFile? { bytes.withUnsafeBufferPointer(ExternalStorage.file(named:)) }
    #expect(found([2] + name + [0]) == file)
    for bytes in [[1] + name + [0], [2] + name, [2] + name + [1], [2] + name + [0, 0], [], [2]] {
      #expect(found(bytes) == nil)
    }
  }

  @Test(
    "The folder is beside the store and bears its name without the ending",
    arguments: [
      ("/a/b.sqlite", "/a/.b_SUPPORT"), ("/a.b/c", "/a.b/.c_SUPPORT"), ("/a/.hidden", "/a/..hidden_SUPPORT"),
      ("b.c.db", ".b.c_SUPPORT"),
    ])
  func folders(store: String, support: String) {
    let file = ExternalFile.random()
    #expect(ExternalFolder(of: Text(store)).path(of: file) == "\(support)/_EXTERNAL_DATA/\(file.name)")
  }

  @Test("A column is named by one number")
  func columns() throws {
    let sketch = try DerivedFixture.makeModel { sketch in
      try sketch.model.addAttribute(
        named: "cover", to: "Book", type: .binary, isOptional: true,
        traits: AttributeTraits(allowsExternalStorage: true))
    }
    let attribute = try #require(sketch.entities.lazy.compactMap { $0.propertiesByName["cover"] }.first)
    let column = try #require(attribute.externalColumn)
    let same = try #require(ExternalColumn(number: column.number))
    #expect(same.entity == column.entity && same.slot == column.slot)
    #expect(Int(column.slot) == attribute.slot && Int(column.entity) == attribute.entity.number)
  }
}
