import CDigest

/// SHA-2 digests, and the text form in which the file keeps them.
enum Digest {
  static func sha256(_ input: [UInt8]) -> [UInt8] {
    var context = SHA2_CTX()
    var output = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256Init(&context)
    SHA256Update(&context, input, input.count)
    SHA256Final(&output, &context)
    return output
  }

  static func sha512(_ input: [UInt8]) -> [UInt8] {
    var context = SHA2_CTX()
    var output = [UInt8](repeating: 0, count: Int(SHA512_DIGEST_LENGTH))
    SHA512Init(&context)
    SHA512Update(&context, input, input.count)
    SHA512Final(&output, &context)
    return output
  }

  /// With padding, on one line.
  static func base64(_ input: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var output: [UInt8] = []
    for start in stride(from: 0, to: input.count, by: 3) {
      let group = input[start..<min(start + 3, input.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        output.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}
