import Glibc
import Testing

@testable import QuireCore

/// A folder of its own for one test; it goes with the object.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/quire-test-XXXXXX".utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
    chmod(path, 0o755)
  }

  deinit {
    chmod(path, 0o755)
    for name in names { remove(file(name)) }
    rmdir(path)
  }

  /// Of all files in it.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func exists(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

  /// nil when there is no such file.
  func bytes(_ name: String) -> [UInt8]? {
    guard let stream = fopen(file(name), "rb") else { return nil }
    defer { fclose(stream) }
    var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&buffer, 1, buffer.count, stream)
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  func write(_ bytes: some Collection<UInt8>, to name: String) throws {
    let stream = try #require(fopen(file(name), "wb"))
    let bytes = Array(bytes)
    #expect(fwrite(bytes, 1, bytes.count, stream) == bytes.count)
    fclose(stream)
  }

  /// Runs `body` as a user whom permissions bind: root passes them all. Only this thread changes, and only for files.
  static func withOrdinaryRights<Result>(_ body: () throws -> Result) throws -> Result {
    guard geteuid() == 0 else { return try body() }
    typealias Change = @convention(c) (UInt32) -> Int32
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let change = unsafeBitCast(symbol, to: Change.self)
    _ = change(65534)
    defer { _ = change(0) }
    return try body()
  }
}
