import Glibc
import Testing

@testable import QuireCore

/// Files beside a store, among others.
@Suite struct CacheFileTests {
  @Test func deletingAllCachesOfAStoreSparesWhatBeginsLikeThem() throws {
    let folder = try TemporaryFolder(), store = Text(folder.file("todo"))
    CacheFile("books", of: store).write(CacheFile.Writer())
    CacheFile("shelves", of: store).write(CacheFile.Writer())
    // The cache is as readable as the store, which therefore has to be there.
    try folder.write([], to: "todo")
    CacheFile("books", of: store).write(CacheFile.Writer())
    CacheFile("shelves", of: store).write(CacheFile.Writer())
    let caches = Set(folder.names).subtracting(["todo"])
    #expect(caches.count == 2)
    let name = try #require(caches.first)
    let abandoned = "\(name)-4711-12345"
    try folder.write([1], to: abandoned)
    let others = [
      "todo-list-work.sqlite", "todo-list-", "todo-list-0123456789abcdef", "\(name).sqlite", "\(name)-wal", "\(name)-1",
      "\(name)-1-", "\(name)--1", "\(name)-1-2-3", "\(name)0", "mytodo-list-" + String(name.suffix(32)),
    ]
    for other in others { try folder.write([1], to: other) }
    try CacheFile.deleteAll(of: store)
    #expect(Set(folder.names) == Set(others + ["todo"]))
  }

  @Test func aPipeInThePlaceOfACacheIsNotWaitedFor() throws {
    let folder = try TemporaryFolder(), store = Text(folder.file("todo"))
    try folder.write([], to: "todo")
    let cache = CacheFile("books", of: store)
    cache.write(CacheFile.Writer())
    let name = try #require(folder.names.first { $0 != "todo" })
    try cache.delete()
    #expect(mkfifo(folder.file(name), 0o600) == 0)
    #expect(cache.read() == nil)
  }
}
