import CQuireFormat
import CSQLite
import Synchronization

/// The files of a database in memory, which go with the last reference and the last connection.
final class MemoryFiles: Sendable {
  /// By which connections open them; no other database of the process has it.
  let name: String
  private let mark = ProcessMark()
  /// Pages of the cache of a connection that reads: the pages are in memory anyway.
  static let pagesToRead = 100
  private static let lastNumber = Atomic<Int>(0)

  init() throws(Failure) {
    name = "store-\(MemoryFiles.lastNumber.add(1, ordering: .relaxed).newValue)"
    // Before SQLite begins.
    quire_locks_install()
    var code = quire_memory_files_register()
    if code == SQLITE_OK { code = quire_memory_files_hold(name) }
    if code == SQLITE_OK { return }
    throw Failure(
      code & 0xFF == SQLITE_NOMEM ? .noMemory : .database,
      "Could not open ':memory:': there is not enough memory. Free some and try again.", databaseCode: code)
  }

  deinit { if mark.isHere { quire_memory_files_release(name) } }

  static var fileSystem: String? { quire_memory_files_vfs().map { String(cString: $0) } }
}
