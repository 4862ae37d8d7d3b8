import ArgumentParser
import Foundation
import SoraCommandSupport

/// Options of `sora serve` about a file that holds the others.
struct ServeSettingsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A file of settings, key = value, with the names of these options. What is on the command line wins.",
      valueName: "file"),
    completion: .file(extensions: ["conf", "toml"]))
  var config: String?

  @Flag(help: "Print such a file with all defaults, as comments, and end.")
  var printConfig = false

  @Flag(help: "Check the file, tell line and setting of all that is wrong, and end.")
  var checkConfig = false
}

extension ServeCommand {
  /// What the file may hold.
  static func settingsTable() throws -> SettingsTable<ServeCommand> {
    try SettingsTable(of: ServeCommand.self, excluding: ["config", "print-config", "check-config"])
  }

  /// The command with what a file says where the command line says nothing.
  ///
  /// - Throws: `UsageError`, or the exit status once all that is wrong has been told.
  func with(settingsIn path: String) throws -> ServeCommand {
    let file = SettingsFile(parsing: try Self.text(of: path))
    let table = try Self.settingsTable()
    let own = Array(ArgumentText.joiningNegativeNumbers(Array(CommandLine.arguments.dropFirst(2))))
    var problems = table.problems(file)
    let wrong = Set(problems.compactMap(\.line))
    do {
      let merged = try ServeCommand.parse(
        table.arguments(file, behind: own, leavingOut: wrong) + own)
      var found: [UsageError] = []
      _ = merged.makeConfiguration(&found)
      if problems.isEmpty, found.isEmpty { return merged }
      problems += found.map { Self.problem($0, in: file) }
    } catch {
      // What is wrong with lines may be the reason.
      if problems.isEmpty { throw error }
    }
    problems.sort { ($0.line ?? .max) < ($1.line ?? .max) }
    for problem in problems {
      let line = "sora: --config \(path): \(problem)".inOneLine
      _ = Console.write(line + "\n", to: STDERR_FILENO)
    }
    throw ExitCode(2)
  }

  private static func text(of path: String) throws(UsageError) -> String {
    guard let handle = FileHandle(forReadingAtPath: path),
      let data = try? handle.read(upToCount: SettingsFile.maximumSize + 1) ?? Data()
    else { throw UsageError("--config \(path): cannot read the file") }
    guard data.count <= SettingsFile.maximumSize else {
      throw UsageError("--config \(path): more than 1 MiB; that is no file of settings")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw UsageError("--config \(path): not UTF-8 text")
    }
    return text
  }

  /// Where the file says what an option is wrong about. Messages begin with the options that they are of.
  private static func problem(_ error: UsageError, in file: SettingsFile) -> SettingsFile.Problem {
    let text = "\(error)"
    for word in text.split(whereSeparator: { " ,:;".contains($0) }) where word.hasPrefix("--") {
      if let entry = file.entries.first(where: { $0.key == word.dropFirst(2) }) {
        return SettingsFile.Problem(line: entry.line, key: entry.key, text: text)
      }
    }
    return SettingsFile.Problem(line: nil, key: nil, text: text)
  }
}
