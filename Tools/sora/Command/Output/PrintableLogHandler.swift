import Logging
import SoraCommandSupport

/// Logs on standard error, one line an event: names and reasons of peers can neither begin a line nor drive the terminal.
struct PrintableLogHandler: LogHandler {
  private var base: StreamLogHandler

  init(label: String) { base = StreamLogHandler.standardError(label: label) }

  var logLevel: Logger.Level {
    get { base.logLevel }
    set { base.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { base.metadata }
    set { base.metadata = newValue.mapValues(\.printable) }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { base[metadataKey: key] }
    set { base[metadataKey: key] = newValue?.printable }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(event.message.description.printable)"
    event.metadata = event.metadata?.mapValues(\.printable)
    base.log(event: event)
  }
}

extension Logger.MetadataValue {
  fileprivate var printable: Self {
    switch self {
    case .string(let text): .string(text.printable)
    case .stringConvertible(let value): .string("\(value)".printable)
    case .array(let values): .array(values.map(\.printable))
    case .dictionary(let values): .dictionary(values.mapValues(\.printable))
    }
  }
}
