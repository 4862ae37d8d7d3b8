import ArgumentParser
import Foundation
import Logging
import SoraCommandSupport
import SoraServer

/// Options of `sora serve` about how it runs as a service.
struct ServeOperationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How a line of the log looks: text, or json with connection_id and channel_id.",
      valueName: "format"),
    completion: .list(["text", "json"]))
  var logFormat = "text"

  @Option(
    help: ArgumentHelp(
      "What is logged: error, warning, notice, info (who joins and leaves), or debug.",
      valueName: "level"),
    completion: .list(["error", "warning", "notice", "info", "debug"]))
  var logLevel = "error"

  @Option(
    help: ArgumentHelp(
      "How long connections may go on behind SIGTERM, while nobody new is taken; a second signal ends at once.",
      valueName: "seconds"))
  var drainTime = 5.0

  @Option(
    help: ArgumentHelp(
      "Signaling URL of another server, to which SIGTERM sends clients.", valueName: "url"))
  var redirectURL: String?

  /// - Parameter isVerbose: logs all that people want to read.
  func logger(isVerbose: Bool) throws(UsageError) -> Logger {
    guard let level = Logger.Level(rawValue: logLevel), level != .trace, level != .critical else {
      throw UsageError("--log-level \(logLevel): use error, warning, notice, info or debug")
    }
    let label = "sora.server"
    var logger: Logger
    switch logFormat {
    case "text": logger = Logger(label: label)
    case "json": logger = Logger(label: label) { JSONLogHandler(label: $0) }
    default: throw UsageError("--log-format \(logFormat): use text or json")
    }
    logger.logLevel = isVerbose ? min(level, .debug) : level
    return logger
  }

  func drain() throws(UsageError) -> SoraServer.Configuration.Drain {
    guard drainTime >= 0, drainTime <= 86_400 else {
      throw UsageError("--drain-time \(drainTime): use seconds from 0 to 86400")
    }
    var drain = SoraServer.Configuration.Drain()
    drain.limit = .seconds(drainTime)
    do throws(UsageError) {
      drain.redirectURL = try redirectURL.map { text throws(UsageError) in
        try ServerAccessOptions.signalingURL(text).absoluteString
      }
    } catch {
      throw UsageError("--redirect-url: \(error)")
    }
    return drain
  }
}
