/// The data channels that Sora opens for itself (Sora's data-channel signaling). All carry JSON.
public enum SignalingLabel: String, Sendable, Hashable, CaseIterable {
  /// `re-offer`, `re-answer`, `candidate`, `disconnect` and `close`.
  case signaling
  case notify
  case push
  /// `req-stats` and `stats`.
  case stats
  /// Calls (JSON-RPC 2.0).
  case rpc

  /// Whether a label is an application's own.
  public static func isMessaging(_ label: String) -> Bool { label.hasPrefix("#") }
}
