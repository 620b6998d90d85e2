import CXML

/// The elements of an XML store, one after the other. Nothing is read from elsewhere.
final class XMLStoreScanner {
  enum Event {
    /// Ends by itself.
    case empty(String)
    case begin(String)
    case end(String)
    /// White space, too.
    case text
    case finished
  }

  /// What a failure calls the file.
  private let path: Text
  private let bytes: Bytes
  private let reader: xmlTextReaderPtr

  /// Fails for what is no XML, or is built to exhaust a reader.
  init(_ bytes: Bytes, path: Text) throws(Failure) {
    self.path = path
    self.bytes = bytes
    if let (line, reason) = XMLStoreScreening.problem(of: bytes) {
      throw Failure(.notAStore, "'\(path)' is no XML store: line \(line): \(reason).")
    }
    guard let size = Int32(exactly: bytes.count) else {
      throw Failure(
        .unsupported, "'\(path)' has \(bytes.count) bytes; an XML store of more than \(Int32.max) is not read.")
    }
    // Its own parser state needs no lock, the library's tables do: they are made once.
    _ = XMLStoreScanner.isInitialized
    // Without a limit for a text, since data may be large. What such limits are for was refused above.
    let flags = Int32(
      XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue | XML_PARSE_HUGE.rawValue)
    let reader = bytes.buffer.withMemoryRebound(to: CChar.self) {
      xmlReaderForMemory($0.baseAddress, size, nil, nil, flags)
    }
    guard let reader else { throw Failure(.noMemory, "There is not enough memory to read '\(path)'.") }
    self.reader = reader
  }

  deinit { xmlFreeTextReader(reader) }

  private static let isInitialized: Bool = {
    xmlInitParser()
    return true
  }()

  /// The number of the element that has begun last.
  private(set) var element = 0

  /// Where an element begins.
  func line(of element: Int) -> Int { XMLStoreScreening.line(ofElement: element, in: bytes) }

  /// Of a file that is an XML store, and damaged. Without an element it is about the one that has begun last.
  func damaged(_ problem: String, at element: Int? = nil) -> Failure {
    damaged(problem, line: line(of: element ?? self.element))
  }

  private func damaged(_ problem: String, line: Int) -> Failure {
    Failure(
      .database, "The XML store '\(path)' is damaged: line \(line): \(problem). Restore it from a backup.")
  }

  func next() throws(Failure) -> Event {
    while true {
      let step = xmlTextReaderRead(reader)
      if step == 0 { return .finished }
      if step < 0 {
        let found = xmlGetLastError().flatMap { error in
          error.pointee.message.map { (String(cString: $0), Int(error.pointee.line)) }
        }
        let words = found?.0.split(separator: "\n").first.map(String.init) ?? "the XML is malformed"
        throw damaged(words, line: found?.1 ?? line(of: element))
      }
      switch xmlReaderTypes(UInt32(bitPattern: xmlTextReaderNodeType(reader))) {
      case XML_READER_TYPE_ELEMENT:
        element += 1
        return xmlTextReaderIsEmptyElement(reader) == 1 ? .empty(name) : .begin(name)
      case XML_READER_TYPE_END_ELEMENT: return .end(name)
      case XML_READER_TYPE_TEXT, XML_READER_TYPE_CDATA, XML_READER_TYPE_WHITESPACE,
        XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        return .text
      case XML_READER_TYPE_ENTITY_REFERENCE:
        throw damaged("it refers to the entity '\(name)', which is declared nowhere")
      default: continue
      }
    }
  }

  private var name: String { xmlTextReaderConstName(reader).map { String(cString: $0) } ?? "" }

  /// Adds the text at which the scanner stands.
  func appendText(to output: inout ContiguousArray<UInt8>) {
    guard let start = xmlTextReaderConstValue(reader) else { return }
    var count = 0
    while start[count] != 0 { count += 1 }
    output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
  }

  /// The attributes of the element at which the scanner stands.
  func attributes() -> [String: String] {
    var found: [String: String] = [:]
    while xmlTextReaderMoveToNextAttribute(reader) == 1 {
      found[name] = xmlTextReaderConstValue(reader).map { String(cString: $0) } ?? ""
    }
    xmlTextReaderMoveToElement(reader)
    return found
  }

  /// The element at which the scanner stands, with all that is in it, as XML. The events of its parts follow.
  func outerXML() -> Bytes? {
    guard let text = xmlTextReaderReadOuterXml(reader) else { return nil }
    defer { quire_xml_free(text) }
    var count = 0
    while text[count] != 0 { count += 1 }
    return Bytes(UnsafeBufferPointer(start: text, count: count))
  }

  /// The text in the element that has just begun, up to its end.
  func text(of element: String, into output: inout ContiguousArray<UInt8>) throws(Failure) {
    output.removeAll(keepingCapacity: true)
    while true {
      switch try next() {
      case .text: appendText(to: &output)
      case .end: return
      case .begin(let inner), .empty(let inner): throw damaged("an element '\(inner)' is in an element '\(element)'")
      case .finished: throw damaged("the file ends in an element '\(element)'")
      }
    }
  }

  /// Passes over the rest of the element that has just begun.
  func skip() throws(Failure) {
    var depth = 1
    while depth > 0 {
      switch try next() {
      case .begin: depth += 1
      case .end: depth -= 1
      case .finished: throw damaged("the file ends in the midst of an element")
      case .empty, .text: break
      }
    }
  }
}
