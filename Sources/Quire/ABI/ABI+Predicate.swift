import CQuire
import Synchronization

/// A predicate with its canonical text, which callers borrow.
final class ParsedPredicate: Sendable {
  let predicate: Predicate
  /// More than one only when objects that it names were saved between two requests.
  private let texts = Mutex<[Text]>([])

  init(_ predicate: Predicate) { self.predicate = predicate }

  var text: Text {
    texts.withLock { texts in
      let text = Text(predicate.text)
      if let last = texts.last, last == text { return last }
      texts.append(text)
      return text
    }
  }
}

@_cdecl("quire_predicate_parse") @implementation
public func quire_predicate_parse(
  _ format: CText, _ format_size: Int, _ arguments: UnsafePointer<quire_value>?, _ argument_count: Int,
  _ out_predicate: Out<quire_predicate>, _ out_error: ErrorOut
) -> quire_status {
  out_predicate?.pointee = nil
  return status(out_error) { () throws(Failure) in
    let out = try required(out_predicate, "out_predicate")
    if format == nil { throw Failure(.invalidArgument, "'format' is NULL; a predicate is needed.") }
    let format = try text(format, format_size, "format")
    var values: [Value] = []
    for argument in try array(arguments, argument_count, "arguments") {
      values.append(try value(argument, "arguments"))
    }
    out.pointee = .passing(ParsedPredicate(try Predicate.parse(format, arguments: values)))
  }
}

@_cdecl("quire_predicate_retain") @implementation
public func quire_predicate_retain(
  _ predicate: UnsafeMutablePointer<quire_predicate>?
) -> UnsafeMutablePointer<quire_predicate>? { retain(predicate) }

@_cdecl("quire_predicate_release") @implementation
public func quire_predicate_release(_ predicate: UnsafeMutablePointer<quire_predicate>?) { release(predicate) }

@_cdecl("quire_predicate_text") @implementation
public func quire_predicate_text(_ predicate: UnsafePointer<quire_predicate>?) -> quire_string {
  peek(predicate)?.text.lent ?? noText
}

@_cdecl("quire_predicate_matches") @implementation
public func quire_predicate_matches(
  _ predicate: UnsafePointer<quire_predicate>?, _ object: UnsafeMutablePointer<quire_object>?,
  _ out_matches: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  out_matches?.pointee = false
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_matches, "out_matches")
    let predicate = try resolve(predicate, "predicate")
    try object.context.store.checkOpen()
    out.pointee = try object.fulfils(predicate.predicate)
  }
}
