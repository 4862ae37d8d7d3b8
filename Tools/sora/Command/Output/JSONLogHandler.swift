import Foundation
import Logging
import SoraCommandSupport

/// Logs on standard error, a JSON object in one line for each event: `time` (RFC 3339, UTC), `level`, `logger`, `message`, and the metadata.
struct JSONLogHandler: LogHandler {
  let label: String
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  init(label: String) { self.label = label }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let line = Self.line(
      time: Date(), level: event.level, label: label, message: event.message.description,
      metadata: all)
    // One write: lines of several threads don't mix. Who doesn't read the log has none.
    _ = Console.write(line + "\n", to: STDERR_FILENO)
  }

  /// The line of an event, without its end.
  static func line(
    time: Date, level: Logger.Level, label: String, message: String, metadata: Logger.Metadata
  ) -> String {
    var object: [String: JSONText] = [:]
    for (key, value) in metadata { object[key] = JSONText(value) }
    // Whatever an event calls its values, these are ours.
    object["time"] = .text(
      time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    object["level"] = .text(level.rawValue)
    object["logger"] = .text(label)
    object["message"] = .text(message)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = (try? encoder.encode(object)) ?? Data("{}".utf8)
    return String(decoding: data, as: UTF8.self)
  }
}

/// A value of metadata, as JSON.
private enum JSONText: Encodable {
  case text(String)
  case list([JSONText])
  case object([String: JSONText])

  init(_ value: Logger.MetadataValue) {
    self =
      switch value {
      case .string(let text): .text(text)
      case .stringConvertible(let value): .text("\(value)")
      case .array(let values): .list(values.map(JSONText.init))
      case .dictionary(let values): .object(values.mapValues(JSONText.init))
      }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .list(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }
}
