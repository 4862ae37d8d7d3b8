import Foundation

/// What is left of a command line while its options are taken off.
struct Arguments {
  var words: [String]

  mutating func value(_ name: String) -> String? {
    guard let index = words.firstIndex(of: name) else { return nil }
    guard index + 1 < words.count else { fail("\(name) needs a value") }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
  }

  mutating func number<Number: LosslessStringConvertible>(_ name: String, _ standard: Number)
    -> Number
  {
    guard let text = value(name) else { return standard }
    guard let number = Number(text) else { fail("\(name) isn't a number: \(text)") }
    return number
  }

  mutating func flag(_ name: String) -> Bool {
    guard let index = words.firstIndex(of: name) else { return false }
    words.remove(at: index)
    return true
  }
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("AudioTrace: \(message)\n".utf8))
  exit(1)
}
