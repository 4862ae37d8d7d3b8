/// How a channel ended, as the iOS SDK tells it from 2025.2 on: `MediaChannel.closeEvent`.
public enum SoraCloseEvent: Sendable {
  /// The app left, or the server ended the connection: its code and reason. 1000 and `NO-ERROR` where the app left.
  case ok(code: Int, reason: String)
  /// It failed.
  case error(any Error)

  init(_ error: (any Error)?) {
    switch error {
    case nil: self = .ok(code: 1000, reason: "NO-ERROR")
    case SoraError.webSocketClosed(let code, let reason)?:
      self = .ok(code: code.intValue(), reason: reason ?? "")
    case SoraError.dataChannelClosed(let code, let reason)?: self = .ok(code: code, reason: reason)
    case let error?: self = .error(error)
    }
  }
}
