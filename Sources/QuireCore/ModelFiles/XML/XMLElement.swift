import CXML

/// An element of an XML document, with what is in it. Text between elements means nothing in a model and is left out.
struct XMLElement {
  /// Deeper than any model, and shallow enough to be followed by calls.
  private static let deepest = 32
  /// What an element or an attribute takes at least, in those that Xcode writes.
  private static let leastBytesPerPart = 5

  let name: String
  fileprivate(set) var attributes: [String: String] = [:]
  fileprivate(set) var children: [XMLElement] = []
  fileprivate(set) var line: Int

  /// nil for an attribute that is not there.
  subscript(attribute: String) -> String? { attributes[attribute] }

  /// The elements in it of one name.
  func children(named name: String) -> some Sequence<XMLElement> { children.lazy.filter { $0.name == name } }

  /// The outermost element of a document. Nothing is read from elsewhere. A document that declares a type, and with it
  /// entities, is refused: no model does. `what` is what a failure calls it.
  static func root(of bytes: Bytes, _ what: String) throws(Failure) -> XMLElement {
    func failure(_ problem: String) -> Failure { Failure(.invalidModel, "\(what) is no model: \(problem).") }
    guard let size = Int32(exactly: bytes.count) else { throw failure("it is too large") }
    if let problem = XMLScreening.problem(of: bytes) { throw failure(problem) }
    let limit = ReadingLimit(size: bytes.count, bytesPerPart: leastBytesPerPart, what)
    // Its own parser state needs no lock, the library's tables do: they are made once.
    _ = XMLElement.isInitialized
    let flags = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)
    let reader = bytes.buffer.withMemoryRebound(to: CChar.self) {
      xmlReaderForMemory($0.baseAddress, size, nil, nil, flags)
    }
    guard let reader else { throw Failure(.noMemory, "There is not enough memory to read \(what).") }
    defer { xmlFreeTextReader(reader) }
    /// The elements that are not closed yet.
    var open: [XMLElement] = []
    var root: XMLElement?
    func close() {
      guard let closed = open.popLast() else { return }
      if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
    }
    while true {
      let step = xmlTextReaderRead(reader)
      if step == 0 { break }
      if step < 0 {
        let found = xmlGetLastError().flatMap { error in
          error.pointee.message.map { (String(cString: $0), error.pointee.line) }
        }
        let reason = found.map { "line \($0.1): \($0.0.split(separator: "\n").first ?? "")" }
        throw failure("its XML is malformed\(reason.map { ", \($0)" } ?? "")")
      }
      switch xmlReaderTypes(UInt32(bitPattern: xmlTextReaderNodeType(reader))) {
      case XML_READER_TYPE_DOCUMENT_TYPE: throw failure("it declares a document type, which no model does")
      case XML_READER_TYPE_ELEMENT:
        try limit.take()
        if open.count >= deepest { throw failure("its elements are nested more than \(deepest) deep") }
        guard let name = text(xmlTextReaderConstName(reader)) else { throw failure("an element has no name") }
        var element = XMLElement(name: name, line: Int(xmlTextReaderGetParserLineNumber(reader)))
        let isEmpty = xmlTextReaderIsEmptyElement(reader) == 1
        while xmlTextReaderMoveToNextAttribute(reader) == 1 {
          try limit.take()
          guard let key = text(xmlTextReaderConstName(reader)) else { continue }
          element.attributes[key] = text(xmlTextReaderConstValue(reader)) ?? ""
        }
        open.append(element)
        if isEmpty { close() }
      case XML_READER_TYPE_END_ELEMENT: close()
      default: break
      }
    }
    guard let root else { throw failure("it has no element") }
    return root
  }

  private static let isInitialized: Bool = {
    xmlInitParser()
    return true
  }()

  private static func text(_ pointer: UnsafePointer<xmlChar>?) -> String? { pointer.map { String(cString: $0) } }
}
