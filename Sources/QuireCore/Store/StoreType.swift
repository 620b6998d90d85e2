/// In which form a store lies on the disk. The numbers are those of the C interface.
enum StoreType: UInt32, Sendable {
  case sqlite = 1
  case xml = 2

  /// As Core Data calls it in metadata.
  var name: String {
    switch self {
    case .sqlite: "SQLite"
    case .xml: "XML"
    }
  }
}
