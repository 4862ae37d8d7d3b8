import ArgumentParser
import Foundation
import Logging
import SoraCommandSupport
import SoraSDK
import SoraVersion

/// `sora`: run a development server, publish to it, play from it, and tell what codecs and cameras there are.
@main
struct SoraTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sora",
    abstract: "WebRTC over the SFU Sora: serve, publish, play and send messages.",
    discussion: """
      Exit status: 0 where the job was done, 1 where the connection failed or ended too early, no media came or output \
      could not be written, 2 for wrong usage. Who stops reading the output ends the command, with 0.
      """,
    version: SoraVersion.current,
    subcommands: [
      ServeCommand.self, PublishCommand.self, PlayCommand.self, MessageCommand.self,
      StatsCommand.self, CodecsCommand.self, DevicesCommand.self, DoctorCommand.self,
    ])

  static func main() async {
    StandardStreams.prepare()
    MemoryPolicy.apply()
    // Standard output is for data.
    LoggingSystem.bootstrap { PrintableLogHandler(label: $0) }
    let arguments = CommandLine.arguments.dropFirst()
    // The SDK's threads and libraries start while arguments and files are read.
    if ["publish", "play", "message", "stats"].contains(arguments.first) { _ = Sora.shared }
    do {
      try checkHelp(of: arguments)
      var command = try parseAsRoot(ArgumentText.joiningNegativeNumbers(Array(arguments)))
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Foundation.exit(report(error))
    }
  }

  /// Refuses `help` about a command that there isn't, which the parser takes for a wish to read about all of them.
  private static func checkHelp(of arguments: ArraySlice<String>) throws(UsageError) {
    guard arguments.first == "help", let name = arguments.dropFirst().first,
      !name.hasPrefix("-")
    else { return }
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard (names + ["help"]).contains(name) else {
      throw UsageError("help \(name): no such command; there are \(names.joined(separator: ", "))")
    }
  }

  /// Prints what an error has to say, and gives the exit status.
  private static func report(_ error: any Error) -> Int32 {
    switch error {
    case let code as ExitCode: return code.rawValue
    case let error as UsageError:
      printError("\(error)")
      return 2
    case let error as JobError:
      printError("\(error)")
      return 1
    default: break
    }
    let code = exitCode(for: error)
    guard code != .success else {
      let console = Console(isJSON: false)
      console.output(fullMessage(for: error))
      do {
        try console.checkOutput()
        return 0
      } catch {
        return report(error)
      }
    }
    guard code == .validationFailure else {
      printError(ErrorText.line(error))
      return 1
    }
    // One line: what is wrong, and where to read what is right.
    let help = fullMessage(for: error).split(separator: "\n").last { $0.contains("--help") }
    let parts = [message(for: error).inOneLine, help.map { String($0).inOneLine }]
    let line = parts.compactMap { $0 }.joined(separator: ". ")
    // The parser's guess is a question.
    printError(line.replacing("?. ", with: "? "))
    return 2
  }

  private static func printError(_ text: String) {
    // Who closed standard error, or let its disk fill up, is told by the exit status all the same.
    _ = Console.write("sora: \(text.inOneLine)\n", to: STDERR_FILENO)
  }
}
