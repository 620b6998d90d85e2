import FoundationEssentials
import Testing

@testable import QuireCore

@Suite struct PredicatePrintingTests {
  @Test func `a predicate prints in one canonical form`() throws {
    let forms: [(String, String)] = [
      ("a = 1 && b <> 2", "a == 1 AND b != 2"), ("a => 1 || b =< 2", "a >= 1 OR b <= 2"),
      ("a == yes and b == FALSE", "a == 1 AND b == 0"), ("a == NULL", "a == nil"),
      ("name like[dc] 'x'", "name LIKE[cd] \"x\""),
      ("!(a == 1)", "NOT a == 1"), ("not (a == 1 and b == 2)", "NOT (a == 1 AND b == 2)"),
      ("a == 1 or b == 2 and c == 3", "a == 1 OR (b == 2 AND c == 3)"), ("none a.b == 1", "NOT ANY a.b == 1"),
      ("a in { 1,2 , 'x' }", "a IN {1, 2, \"x\"}"), ("a + b * 2 > 1", "a + (b * 2) > 1"), ("#size == 1", "size == 1"),
      ("a[#size] == 1", "a[#size] == 1"), ("a[size] == 1", "a[SIZE] == 1"), ("(a.d)[0] == 1", "(a.d)[0] == 1"),
      ("a.d[0] == 1", "a.d[0] == 1"), ("#'odd key'.x == 1", "#\"odd key\".x == 1"), ("a.like == 1", "a.like == 1"),
      ("sum(a) > abs:(b)", "sum:(a) > abs:(b)"), ("add:to:(a, b) == 1", "a + b == 1"),
      ("(-5)[0] == -x", "(-5)[0] == -x"),
      ("subquery(a, $x, $x.b == c).@count == 0", "SUBQUERY(a, $x, $x.b == c).@count == 0"),
      ("a UTI-conforms-to 'x'", "a UTI-CONFORMS-TO \"x\""), ("truepredicate", "TRUEPREDICATE"),
      ("a in b union c", "a IN b UNION c"),
      ("a == 'line\\nquote\" back\\\\ é \\u0001'", "a == \"line\\nquote\\\" back\\\\ é \\u0001\""),
      ("cast(1.5, 'NSDate') < a", "CAST(1.500000, \"NSDate\") < a"), ("a == 1.0", "a == 1.0"),
      ("a == 1e300", "a == 1e+300"),
    ]
    for (format, text) in forms {
      let predicate = try Predicate.parse(Text(format))
      #expect(predicate.text == text)
      #expect(try Predicate.parse(Text(text)) == predicate, "\(format)")
    }
  }

  @Test func `a constant of any kind prints as a format that gives it back`() throws {
    let values: [Value] = [
      .nil, .integer(.min), .boolean(true), .double(0.1), .double(-Double.leastNonzeroMagnitude), .double(.nan),
      .double(-.infinity), .float(1.7),
      .float(.infinity), .decimal(Decimal("-123456789012345678901234567890.5".utf8)!), .text("'\"\\\u{0}\u{7F}é"),
      .date(592_299_475.57712),
      .date(-0.1234567891), .date(.nan), .date(1e300), .data(Bytes([0, 255])), .data(Bytes([])),
      .uuid(Bytes(Array(0..<16))),
      .uri(Text("http://a?b=\"c\"")), .object(ObjectReference(root: 3, id: -12)), .list([]),
      .list([.nil, .list([.date(1)]), .text("x")]),
    ]
    for value in values {
      let predicate = try Predicate.parse("a == %@", arguments: [value])
      #expect(try Predicate.parse(Text(predicate.text)) == predicate, "\(predicate.text)")
    }
    #expect(
      try Predicate.parse("a == %@", arguments: [.date(592_299_475.57712)]).text
        == "a == CAST(592299475.577120, \"NSDate\")")
  }

  @Test func `what prints as a constant is one, however it was written`() throws {
    let forms: [(String, String)] = [
      ("castObject:toType:(7, 'NSDate') == a", "CAST(7.000000, \"NSDate\") == a"),
      ("castObject:toType:(a, 'NSDate') == b", "CAST(a, \"NSDate\") == b"),
      ("castObject:toType:(7, 3) == a", "castObject:toType:(7, 3) == a"),
      ("castObject:toType:(7, b) == a", "castObject:toType:(7, b) == a"),
      ("CAST(YES, 'NSDate') == a", "CAST(1.000000, \"NSDate\") == a"),
      ("negate:(5) == a", "-5 == a"), ("negate:(a) == 1", "-a == 1"), ("-(-5) == a", "5 == a"),
    ]
    for (format, text) in forms {
      let predicate = try Predicate.parse(Text(format))
      #expect(predicate.text == text)
      #expect(try Predicate.parse(Text(text)) == predicate, "\(format)")
    }
  }

  @Test func `every format that the fuzzer keeps prints as what reads back the same`() throws {
    let pack = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/predicate.inputs")
    let lines = try String(contentsOf: pack, encoding: .utf8).split(separator: "\n")
    var read = 0
    for line in lines.dropLast() {
      // What follows a NUL makes arguments, which the target for fuzzing decodes.
      let format = bytes(ofInput: line).prefix { $0 != 0 }
      guard let predicate = try? Predicate.parse(Text(utf8: Array(format))) else { continue }
      #expect(try Predicate.parse(Text(predicate.text)) == predicate, "\(predicate.text)")
      read += 1
    }
    #expect(lines.last == "\(lines.count - 1) inputs")
    #expect(read > 50)
  }

  /// The bytes of a line in the format that Tests/Fuzz/inputs.py describes.
  private func bytes(ofInput line: Substring) -> [UInt8] {
    var rest = line.utf8.drop { $0 != UInt8(ascii: " ") }.dropFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "x") {
        bytes.append(UInt8(String(rest.prefix(2))!, radix: 16)!)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  @Test func `compounds of no or one part print what they mean`() throws {
    let one = try Predicate.parse("a == 1")
    #expect(Predicate.all([]) == .constant(true) && Predicate.any([]) == .constant(false))
    #expect(Predicate.all([one]) == one && Predicate.any([one]) == one)
    #expect(Predicate.and([]).text == "TRUEPREDICATE" && Predicate.not(.or([])).text == "NOT FALSEPREDICATE")
  }
}
