import SoraCommandSupport

extension FuzzTarget {
  /// The text of a file of settings.
  static var settings: FuzzTarget {
    let files = [
      "# first\r\n\r\n host = \"0.0.0.0\" # all\nport=5_000\r\tturn = true\n",
      #"media-address = ["192.0.2.7", 'b', ] # several"# + "\nname = \"\\\"\\\\\\n\\t\"",
      "[table]\nkey\n= 1\nkey =\nkey = word\nkey = \"a\nkey = \"\\x\"\nkey = [\"a\" \"b\"]",
      "a = 1\na = 2\né = nan\n\u{600}\"\u{301} = '\u{1F1E9}\u{1F1EA}\u{2028}'",
    ]
    return FuzzTarget("settings", maximumLength: 512, seeds: files.map(Seeds.text)) { input in
      let text = String(decoding: input, as: UTF8.self)
      let file = SettingsFile(parsing: text)
      let count = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count
      var told: Set<Int> = []
      for problem in file.problems {
        guard let line = problem.line, 1...count ~= line else {
          return check(false, "a problem names no line of the file: \(problem)")
        }
        check(told.insert(line).inserted, "line \(line) has two problems")
        check(problem.description.hasPrefix("line \(line): "), "a problem doesn't begin so")
        check(!problem.text.isEmpty, "a problem says nothing")
      }
      for entry in file.entries {
        check(1...count ~= entry.line, "an entry is on no line of the file")
        check(told.insert(entry.line).inserted, "line \(entry.line) is read twice")
      }
      check(Set(file.entries.map(\.key)).count == file.entries.count, "a key is there twice")
      // What was read is read back equal from our own writing, each on the line where it is written.
      let again = SettingsFile(
        parsing: file.entries.map { "\($0.key) = \(written($0.value))" }.joined(separator: "\n"))
      check(again.problems.isEmpty, "our own file has problems: \(again.problems)")
      check(
        again.entries.map(\.key) == file.entries.map(\.key)
          && again.entries.map(\.value) == file.entries.map(\.value),
        "settings read back differently")
      check(again.entries.map(\.line) == Array(1..<again.entries.count + 1), "lines are miscounted")
    }
  }

  private static func written(_ value: SettingsFile.Value) -> String {
    switch value {
    case .flag(let isOn): "\(isOn)"
    case .text(let text): quoted(text)
    case .list(let texts): "[" + texts.map(quoted).joined(separator: ",") + "]"
    }
  }

  private static func quoted(_ text: String) -> String {
    var written = "\""
    for character in text {
      switch character {
      case "\\": written += "\\\\"
      case "\"": written += "\\\""
      case "\n": written += "\\n"
      case "\t": written += "\\t"
      default: written.append(character)
      }
    }
    return written + "\""
  }
}
