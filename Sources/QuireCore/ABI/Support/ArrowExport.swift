import CQuire
import Glibc

/// What leaves the library as Arrow: one column, or all of a page as structs.
final class ArrowExport: @unchecked Sendable {
  private let columns: [ArrowColumn]
  private let isTable: Bool
  private let rowCount: Int

  /// `column` -1 for all of them.
  init(_ page: Page, column: Int64) throws(Failure) {
    rowCount = page.rowCount
    isTable = column == -1
    guard isTable || (column >= 0 && column < Int64(page.columns.count)) else {
      throw Failure(
        .invalidArgument, "'column' is \(column), and the page has \(page.columns.count) columns. -1 is all of them.")
    }
    var columns: [ArrowColumn] = []
    for each in isTable ? page.columns[...] : page.columns[Int(column)...Int(column)] {
      columns.append(try ArrowColumn(each))
    }
    self.columns = columns
  }

  var schema: ArrowSchema {
    if !isTable { return arrowSchema(columns[0]) }
    return arrowSchema(ArrowParent(columns.map(arrowSchema), releasedBy: { $0.release?(&$0) }))
  }

  /// A slice of the rows, which shares the memory of all.
  func array(_ rows: Range<Int>) -> ArrowArray {
    if !isTable { return arrowArray(columns[0], rows) }
    return arrowArray(
      ArrowParent(columns.map { arrowArray($0, rows) }, releasedBy: { $0.release?(&$0) }), rows.count)
  }

  var array: ArrowArray { array(0..<rowCount) }

  /// The rows as a stream of arrays.
  func stream(batchRows: Int) -> ArrowArrayStream {
    var made = ArrowArrayStream()
    made.get_schema = { (stream, out) in
      guard let stream, let out else { return EINVAL }
      out.pointee = object(stream.pointee.private_data, ArrowBatches.self).export.schema
      return 0
    }
    made.get_next = { (stream, out) in
      guard let stream, let out else { return EINVAL }
      out.pointee = object(stream.pointee.private_data, ArrowBatches.self).next() ?? ArrowArray()
      return 0
    }
    // Nothing fails that could leave a text here.
    made.get_last_error = { _ in nil }
    made.release = { stream in
      guard let stream else { return }
      letGo(stream.pointee.private_data)
      stream.pointee.release = nil
      stream.pointee.private_data = nil
    }
    made.private_data = Unmanaged.passRetained(ArrowBatches(self, rowCount, batchRows)).toOpaque()
    return made
  }
}

/// How far a stream is.
private final class ArrowBatches {
  let export: ArrowExport
  private let rowCount: Int
  private let step: Int
  private var first = 0

  init(_ export: ArrowExport, _ rowCount: Int, _ batchRows: Int) {
    self.export = export
    self.rowCount = rowCount
    step = batchRows == 0 ? max(rowCount, 1) : batchRows
  }

  func next() -> ArrowArray? {
    if first == rowCount { return nil }
    let end = step < rowCount - first ? first + step : rowCount
    defer { first = end }
    return export.array(first..<end)
  }
}

/// The children of a struct array or of its schema. A consumer may have moved some of them away.
private final class ArrowParent<Child> {
  let children: UnsafeMutablePointer<UnsafeMutablePointer<Child>?>
  let count: Int
  /// The one buffer of a struct array: it has no validity.
  let buffers: UnsafeMutablePointer<UnsafeRawPointer?>
  private let release: (inout Child) -> Void

  init(_ given: [Child], releasedBy release: @escaping (inout Child) -> Void) {
    self.release = release
    count = given.count
    children = .allocate(capacity: max(count, 1))
    for (place, child) in given.enumerated() {
      let memory = UnsafeMutablePointer<Child>.allocate(capacity: 1)
      memory.initialize(to: child)
      (children + place).initialize(to: memory)
    }
    buffers = .allocate(capacity: 1)
    buffers.initialize(to: nil)
  }

  deinit {
    for place in 0..<count {
      guard let child = children[place] else { continue }
      release(&child.pointee)
      child.deallocate()
    }
    children.deallocate()
    buffers.deallocate()
  }
}

private func arrowSchema(_ column: ArrowColumn) -> ArrowSchema {
  var made = emptySchema(column)
  made.format = lent(column.format)
  made.name = lent(column.column.name)
  made.metadata = column.metadata.map(lent)
  made.flags = Int64(ARROW_FLAG_NULLABLE)
  return made
}

private func arrowSchema(_ parent: ArrowParent<ArrowSchema>) -> ArrowSchema {
  var made = emptySchema(parent)
  made.format = lent(tableFormat)
  made.name = lent(noName)
  made.n_children = Int64(parent.count)
  made.children = parent.children
  return made
}

private func arrowArray(_ column: ArrowColumn, _ rows: Range<Int>) -> ArrowArray {
  var made = emptyArray(column)
  made.length = Int64(rows.count)
  // Of a part it is not known.
  let isKnown = column.column.nilCount == 0 || rows.count == column.column.length
  made.null_count = isKnown ? Int64(column.column.nilCount) : -1
  made.offset = Int64(rows.lowerBound)
  made.n_buffers = Int64(column.bufferCount)
  made.buffers = column.buffers
  return made
}

private func arrowArray(_ parent: ArrowParent<ArrowArray>, _ count: Int) -> ArrowArray {
  var made = emptyArray(parent)
  made.length = Int64(count)
  made.n_buffers = 1
  made.buffers = parent.buffers
  made.n_children = Int64(parent.count)
  made.children = parent.children
  return made
}

private func emptySchema(_ owner: AnyObject) -> ArrowSchema {
  var made = ArrowSchema()
  made.private_data = Unmanaged.passRetained(owner).toOpaque()
  made.release = { schema in
    guard let schema else { return }
    letGo(schema.pointee.private_data)
    schema.pointee.release = nil
    schema.pointee.private_data = nil
  }
  return made
}

private func emptyArray(_ owner: AnyObject) -> ArrowArray {
  var made = ArrowArray()
  made.private_data = Unmanaged.passRetained(owner).toOpaque()
  made.release = { array in
    guard let array else { return }
    letGo(array.pointee.private_data)
    array.pointee.release = nil
    array.pointee.private_data = nil
  }
  return made
}

private let tableFormat = Text("+s").bytes
private let noName = Text("").bytes

private func lent(_ text: Bytes) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.start).assumingMemoryBound(to: CChar.self)
}

private func object<T: AnyObject>(_ pointer: UnsafeMutableRawPointer?, _ type: T.Type) -> T {
  Unmanaged<T>.fromOpaque(pointer!).takeUnretainedValue()
}

private func letGo(_ pointer: UnsafeMutableRawPointer?) {
  if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}
