import ArgumentParser
import Foundation
import SoraCommandSupport

/// What a file of settings may hold for a command: its long options, as the command declares them.
struct SettingsTable<Command: ParsableArguments> {
  /// One option of the command.
  struct Option: Sendable {
    var key: String
    var isFlag: Bool
    var isRepeating: Bool
    var valueName: String
    var defaultValue: String?
    var help: String
    var section: String?
  }

  let options: [Option]

  /// - Parameter excluded: options that make no sense in a file.
  init(of command: Command.Type, excluding excluded: Set<String>) throws {
    // The one declaration is the command's; this is how the parser tells what it read there.
    let description = try JSONDecoder().decode(
      ToolDescription.self, from: Data(command._dumpHelp().utf8))
    options = description.command.arguments.compactMap { argument in
      let names = (argument.names ?? []).filter { $0.kind == "long" }.map(\.name)
      guard let key = names.first(where: { !$0.hasPrefix("no-") }), argument.kind != "positional",
        !excluded.contains(key), key != "help", key != "version"
      else { return nil }
      return Option(
        key: key, isFlag: argument.kind == "flag", isRepeating: argument.isRepeating,
        valueName: argument.valueName ?? "value", defaultValue: argument.defaultValue,
        help: argument.abstract ?? "", section: argument.sectionTitle)
    }
  }

  // MARK: Reading

  /// The arguments that a file stands for, without those whose options `arguments` names: the command line wins.
  ///
  /// - Parameter lines: that aren't taken.
  func arguments(
    _ file: SettingsFile, behind arguments: [String], leavingOut lines: Set<Int> = []
  ) -> [String] {
    let named = Set(
      arguments.filter { $0.hasPrefix("--") }.map { argument in
        let name = argument.dropFirst(2).prefix { $0 != "=" }
        return String(name.hasPrefix("no-") ? name.dropFirst(3) : name)
      })
    return file.entries.filter { !named.contains($0.key) && !lines.contains($0.line) }.flatMap {
      entry in
      (try? self.arguments(of: entry)) ?? []
    }
  }

  /// What is wrong with single lines.
  func problems(_ file: SettingsFile) -> [SettingsFile.Problem] {
    var found = file.problems
    for entry in file.entries {
      do throws(SettingsFile.Problem) {
        let arguments = try arguments(of: entry)
        do {
          _ = try Command.parse(arguments)
        } catch {
          throw SettingsFile.Problem(
            line: entry.line, key: entry.key, text: Command.message(for: error).inOneLine)
        }
      } catch {
        found.append(error)
      }
    }
    return found.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  private func arguments(
    of entry: SettingsFile.Entry
  ) throws(SettingsFile.Problem) -> [String] {
    func problem(_ text: String) -> SettingsFile.Problem {
      SettingsFile.Problem(line: entry.line, key: entry.key, text: text)
    }
    guard let option = options.first(where: { $0.key == entry.key }) else {
      throw problem("there is no such setting; --print-config prints those that there are")
    }
    switch entry.value {
    case .flag(let isOn):
      guard option.isFlag else { throw problem("it needs a \(option.valueName)") }
      return [isOn ? "--\(entry.key)" : "--no-\(entry.key)"]
    case .text(let text):
      guard !option.isFlag else { throw problem("write true or false") }
      return ["--\(entry.key)=\(text)"]
    case .list(let texts):
      guard option.isRepeating else { throw problem("it takes one value, not a list") }
      return texts.map { "--\(entry.key)=\($0)" }
    }
  }

  // MARK: Writing

  /// A file in which each setting is a comment, with its default.
  func text(title: String) -> String {
    var lines = ["# \(title)"]
    var section: String?
    for option in options {
      lines.append("")
      if option.section != section, let name = option.section {
        lines += ["# --- \(name) ---", ""]
      }
      section = option.section
      lines += Self.wrapped(option.help).map { "# \($0)" }
      lines.append("#\(option.key) = \(example(option))")
    }
    return lines.joined(separator: "\n")
  }

  private func example(_ option: Option) -> String {
    if option.isFlag { return "false" }
    guard let value = option.defaultValue else {
      return option.isRepeating ? "[\"\(option.valueName)\"]" : "\"\(option.valueName)\""
    }
    return Double(value) != nil ? value : "\"\(value)\""
  }

  private static func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + word.count < 100 {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

/// What is read of the parser's own description of a command.
private struct ToolDescription: Decodable {
  struct Command: Decodable { var arguments: [Argument] }

  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var kind: String
    var isRepeating: Bool
    var names: [Name]?
    var valueName: String?
    var defaultValue: String?
    var abstract: String?
    var sectionTitle: String?
  }

  var command: Command
}
