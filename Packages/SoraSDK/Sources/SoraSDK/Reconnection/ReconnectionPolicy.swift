import SoraMedia

/// Whether and when a lost connection is made anew: `Sora.connect(configuration:reconnection:)`. Linux only.
///
/// The wait before an attempt grows from `initialDelay` by `multiplier` up to `maximumDelay`; a part of it, `jitter`, is drawn at random, so
/// that the clients of a server that was restarted don't come back at once.
public struct ReconnectionPolicy: Sendable, Hashable {
  /// Attempts in a row that may fail; nil for no limit.
  public var maximumAttempts: Int? = 10
  /// Before the first attempt.
  public var initialDelay = Duration.seconds(1)
  public var maximumDelay = Duration.seconds(30)
  public var multiplier = 2.0
  /// 0 to 1: how much of a delay is random.
  public var jitter = 0.5

  public init() {}

  /// The wait before an attempt.
  ///
  /// - Parameters:
  ///   - attempt: from 1, since the connection was lost.
  ///   - random: 0 to 1.
  package func delay(before attempt: Int, random: Double) -> Duration {
    // In seconds; beyond a day nothing grows any more, whatever the exponent.
    let first = max(0, initialDelay.inSeconds)
    let grown = first * pow(max(1, multiplier), attempt - 1)
    let full = min(grown, max(0, maximumDelay.inSeconds), 86_400)
    let part = min(max(0, jitter), 1)
    return .seconds(full * (1 - part * (1 - min(max(0, random), 1))))
  }

  private func pow(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<min(max(0, exponent), 64) { result *= base }
    return result
  }

  /// Whether another attempt may go better after this one.
  package static func isRecoverable(_ error: any Error) -> Bool {
    switch error {
    case SoraError.webSocketClosed(let code, let reason):
      isRecoverable(code.intValue(), reason)
    case SoraError.dataChannelClosed(let code, let reason): isRecoverable(code, reason)
    case SoraError.webSocketError, SoraError.peerChannelError, SoraError.connectionTimeout: true
    default: false
    }
  }

  /// Whether the server may take the connection another time, by what it said when it ended one.
  private static func isRecoverable(_ code: Int, _ reason: String?) -> Bool {
    // A refusal stays one, unless it is that the server takes the lost connection for alive still.
    code != 4490 || reason?.uppercased().contains("DUPLICATED") == true
  }
}
