/// The head of an HTTP/1.1 response, read from bytes as they come.
package struct HTTPResponseHead: Sendable, Hashable {
  package static let maximumSize = 16 << 10

  package var status: Int
  package var headers: HeaderFields
  /// Bytes up to and including the empty line.
  package var size: Int

  /// - Returns: nil while the empty line hasn't come.
  /// - Throws: a text that says what is wrong.
  package static func parse(_ bytes: [UInt8]) throws(Malformed) -> HTTPResponseHead? {
    guard let end = endOfHead(bytes) else {
      guard bytes.count <= maximumSize else { throw Malformed("the response head is too long") }
      return nil
    }
    guard end <= maximumSize else { throw Malformed("the response head is too long") }
    guard let text = String(validating: bytes[..<end], as: UTF8.self) else {
      throw Malformed("the response head is not text")
    }
    var lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }[...]
    // RFC 9112 §4
    let statusLine = (lines.popFirst() ?? "").split(separator: " ", maxSplits: 2)
    guard statusLine.count >= 2, statusLine[0].hasPrefix("HTTP/1."), statusLine[1].count == 3,
      let status = Int(statusLine[1]), (100...999).contains(status)
    else { throw Malformed("the response is not HTTP/1.1") }
    var headers = HeaderFields()
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw Malformed("a header line has no name")
      }
      headers.fields.append(
        .init(
          name: String(line[..<colon]),
          value: String(line[line.index(after: colon)...].trimmingSpaces)))
    }
    return HTTPResponseHead(status: status, headers: headers, size: end)
  }

  package struct Malformed: Error {
    package let detail: String
    init(_ detail: String) { self.detail = detail }
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    var index = 0
    while index < bytes.count {
      if bytes[index] == 0x0A {
        var next = index + 1
        if next < bytes.count, bytes[next] == 0x0D { next += 1 }
        if next < bytes.count, bytes[next] == 0x0A { return next + 1 }
      }
      index += 1
    }
    return nil
  }
}
