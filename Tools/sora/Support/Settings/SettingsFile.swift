/// A file of settings: a line each, `key = value`, in the part of TOML that needs no tables.
///
/// Values are `"text"`, `'text'`, numbers, `true`, `false`, and lists of texts `["a", "b"]`. `#` begins a comment.
package struct SettingsFile: Sendable {
  /// What a line says.
  package enum Value: Sendable, Hashable {
    case flag(Bool)
    /// Numbers are left as they are written.
    case text(String)
    case list([String])
  }

  package struct Entry: Sendable, Hashable {
    /// From 1 on.
    package var line: Int
    package var key: String
    package var value: Value

    package init(line: Int, key: String, value: Value) {
      self.line = line
      self.key = key
      self.value = value
    }
  }

  /// What is wrong, and where.
  package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    package var line: Int?
    package var key: String?
    package var text: String

    package init(line: Int?, key: String?, text: String) {
      self.line = line
      self.key = key
      self.text = text
    }

    package var description: String {
      [line.map { "line \($0)" }, key, text].compactMap(\.self).joined(separator: ": ")
    }
  }

  package private(set) var entries: [Entry] = []
  package private(set) var problems: [Problem] = []

  /// A file is read up to here.
  package static let maximumSize = 1 << 20

  /// Reads all that can be read; what can't is among `problems`.
  package init(parsing text: String) {
    var lines: [String: Int] = [:]
    for (index, content) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    )
    .enumerated() {
      let number = index + 1
      do throws(Problem) {
        guard let entry = try Self.entry(content, number) else { continue }
        if let first = lines[entry.key] {
          throw Problem(line: number, key: entry.key, text: "it is on line \(first) already")
        }
        lines[entry.key] = number
        entries.append(entry)
      } catch {
        problems.append(error)
      }
    }
  }

  private static func entry(_ content: Substring, _ line: Int) throws(Problem) -> Entry? {
    var scanner = Scanner(rest: content)
    scanner.skipSpaces()
    if scanner.isAtEnd { return nil }
    if scanner.rest.first == "[" {
      throw Problem(line: line, key: nil, text: "tables aren't used here; write key = value alone")
    }
    let key = scanner.takeKey()
    scanner.skipSpaces()
    guard !key.isEmpty, scanner.take("=") else {
      throw Problem(
        line: line, key: key.isEmpty ? nil : key, text: "write key = value, or # and a comment")
    }
    scanner.skipSpaces()
    do throws(Scanner.Failure) {
      let value = try scanner.takeValue()
      scanner.skipSpaces()
      guard scanner.isAtEnd else {
        throw Scanner.Failure(text: "something follows the value; put text in \"quotes\"")
      }
      return Entry(line: line, key: key, value: value)
    } catch {
      throw Problem(line: line, key: key, text: error.text)
    }
  }
}

/// Reads one line.
private struct Scanner {
  struct Failure: Error {
    var text: String
  }

  var rest: Substring

  /// A comment is an end.
  var isAtEnd: Bool { rest.first.map { $0 == "#" } ?? true }

  mutating func skipSpaces() { rest = rest.drop { $0 == " " || $0 == "\t" } }

  mutating func take(_ character: Character) -> Bool {
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }

  mutating func takeKey() -> String {
    let key = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    rest = rest.dropFirst(key.count)
    return String(key)
  }

  mutating func takeValue() throws(Failure) -> SettingsFile.Value {
    switch rest.first {
    case "\"", "'": return .text(try takeText())
    case "[": return .list(try takeList())
    default: break
    }
    let word = rest.prefix { !$0.isWhitespace && $0 != "#" }
    rest = rest.dropFirst(word.count)
    switch word {
    case "true": return .flag(true)
    case "false": return .flag(false)
    case "": throw Failure(text: "a value is missing")
    default: break
    }
    let digits = word.filter { $0 != "_" }
    guard let number = Double(digits), number.isFinite else {
      throw Failure(text: "\(word) is no number, true or false; put text in \"quotes\"")
    }
    return .text(String(digits))
  }

  private mutating func takeText() throws(Failure) -> String {
    let quote = rest.removeFirst()
    var text = ""
    while let character = rest.popFirst() {
      if character == quote { return text }
      guard character == "\\", quote == "\"" else {
        text.append(character)
        continue
      }
      switch rest.popFirst() {
      case "\\": text.append("\\")
      case "\"": text.append("\"")
      case "n": text.append("\n")
      case "t": text.append("\t")
      default: throw Failure(text: "behind \\ come \\, \", n or t; or put the text in 'quotes'")
      }
    }
    throw Failure(text: "the closing \(quote) is missing")
  }

  private mutating func takeList() throws(Failure) -> [String] {
    rest.removeFirst()
    var texts: [String] = []
    while true {
      skipSpaces()
      if take("]") { return texts }
      guard rest.first == "\"" || rest.first == "'" else {
        throw Failure(text: "write a list as [\"a\", \"b\"], in one line")
      }
      texts.append(try takeText())
      skipSpaces()
      if take("]") { return texts }
      guard take(",") else { throw Failure(text: "write a list as [\"a\", \"b\"], in one line") }
    }
  }
}
