import Foundation
import SoraCommandSupport
import SoraSDK

/// Errors of the SDK in one line each: the stage it failed in, what happened, and the way out.
enum ErrorText {
  static func line(_ error: any Error) -> String {
    switch error {
    case let error as SoraError: line(error).inOneLine
    case let error as any LocalizedError: (error.errorDescription ?? "\(error)").inOneLine
    default: "\(error)".inOneLine
    }
  }

  private static func line(_ error: SoraError) -> String {
    switch error {
    case .connectionCancelled: "connect: interrupted before the connection stood"
    case .connectionTimeout: joined("connect: no connection in time", error)
    case .connectionBusy(let reason): joined("connect: \(reason)", error)
    case .webSocketClosed(let code, let reason):
      joined(
        "signaling: the server closed the WebSocket with \(code.intValue())"
          + (reason.map { $0.isEmpty ? "" : " (\($0))" } ?? ""), error)
    // These two say their stage and their way out themselves.
    case .webSocketError(let cause):
      "\(cause)".hasPrefix("signaling: ") ? "\(cause)" : "signaling: \(cause)"
    case .signalingChannelError(let reason): "signaling: \(reason)"
    case .invalidSignalingMessage: joined("signaling: the server sent what can't be read", error)
    case .unknownSignalingMessageType(let type):
      joined("signaling: the server sent a message of unknown type \(type)", error)
    case .peerChannelError(let reason): joined(reason, error)
    default: joined(error.errorDescription ?? "\(error)", error)
    }
  }

  private static func joined(_ text: String, _ error: SoraError) -> String {
    // A reason that has a semicolon names its way out already.
    guard !text.contains(";"), let way = error.recoverySuggestion else { return text }
    return "\(text); \(way.prefix(1).lowercased())\(way.dropFirst())"
  }
}
