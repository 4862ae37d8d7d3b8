import Logging
import Synchronization
import WebRTC

/// Leads the swift-log lines of the layers below into the SDK's own log.
struct SDKLogHandler: LogHandler {
  /// For everything under a channel's signaling.
  static let logger = Logging.Logger(label: "sora.signaling") { _ in SDKLogHandler() }

  private static let threshold = Mutex(Logging.Logger.Level?.some(.info))

  /// Lines below this are left out.
  static func setThreshold(_ severity: RTCLoggingSeverity) {
    let level: Logging.Logger.Level? =
      switch severity {
      case .verbose: .trace
      case .info: .info
      case .warning: .warning
      case .error: .error
      case .none: nil
      }
    threshold.withLock { $0 = level }
  }

  var metadata: Logging.Logger.Metadata = [:]
  // What is shown is decided in `log`, by thresholds that may change at any time.
  var logLevel: Logging.Logger.Level {
    get { .trace }
    set {}
  }

  subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    guard let threshold = Self.threshold.withLock({ $0 }), event.level >= threshold else { return }
    let details = event.metadata.map { $0.isEmpty ? "" : " \($0)" } ?? ""
    let message = "\(event.message)\(details)"
    switch event.level {
    case .trace: Logger.trace(type: .signalingChannel, message: message)
    case .debug: Logger.debug(type: .signalingChannel, message: message)
    case .info, .notice: Logger.info(type: .signalingChannel, message: message)
    case .warning: Logger.warn(type: .signalingChannel, message: message)
    case .error: Logger.error(type: .signalingChannel, message: message)
    case .critical: Logger.fatal(type: .signalingChannel, message: message)
    }
  }
}
