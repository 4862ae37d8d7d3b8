public import SoraMedia

/// When a connection came to each point of its making, and how long it was on the way between them.
///
/// Instants are of the clock that drives the connection; nil for what hasn't happened, or nobody told.
public struct ConnectionTimeline: Sendable, Hashable {
  /// What a connection does one after the other. Gathering isn't among them: it goes on beside.
  public enum Phase: String, Sendable, CaseIterable {
    /// Opens the signaling WebSocket, over redirects too.
    case webSocket
    /// Waits for the server's offer.
    case offer
    /// Makes and exchanges descriptions, up to the beginning of ICE's checks.
    case negotiation
    /// ICE looks for a pair that works.
    case checks
    /// DTLS agrees on keys.
    case dtls
    /// Waits for the first RTP packet, whichever way it goes.
    case firstPacket
  }

  /// One phase that came to its end.
  public struct Span: Sendable, Hashable {
    public let phase: Phase
    public let start: Instant
    public let duration: Duration
  }

  /// The attempt began, or, where only a peer connection is known, its first description was set.
  public var started: Instant?
  public var webSocketOpened: Instant?
  public var offerReceived: Instant?
  public var gatheringStarted: Instant?
  /// Every STUN and TURN server had answered or was given up.
  public var gatheringEnded: Instant?
  public var checksStarted: Instant?
  public var pairSelected: Instant?
  public var secured: Instant?
  public var firstPacketSent: Instant?
  public var firstPacketReceived: Instant?

  public init() {}

  /// The phases that ended, in order, each from the end of the one before: their durations sum up to `total`.
  public var spans: [Span] {
    guard var position = started ?? checksStarted else { return [] }
    var spans: [Span] = []
    for phase in Phase.allCases {
      guard let end = end(of: phase), started != nil || phase > .negotiation else { continue }
      // Clocks don't go back; events may be told late.
      let next = max(position, end)
      spans.append(Span(phase: phase, start: position, duration: next - position))
      position = next
    }
    return spans
  }

  /// How long a phase took; nil where it hasn't ended.
  public subscript(phase: Phase) -> Duration? { spans.first { $0.phase == phase }?.duration }

  /// WebSocket, offer and negotiation together, as far as they are known; nil before ICE's checks began.
  public var signaling: Duration? {
    guard let started, let checksStarted else { return nil }
    return max(.zero, checksStarted - started)
  }

  /// How long STUN and TURN servers were asked, beside the other phases; nil before that ended.
  public var gathering: Duration? {
    guard let gatheringStarted, let gatheringEnded else { return nil }
    return gatheringEnded - gatheringStarted
  }

  /// From the start to the end of the last phase that ended.
  public var total: Duration {
    spans.last.map { $0.start + $0.duration - (spans.first?.start ?? $0.start) } ?? .zero
  }

  private func end(of phase: Phase) -> Instant? {
    switch phase {
    case .webSocket: webSocketOpened
    case .offer: offerReceived
    case .negotiation: checksStarted
    case .checks: pairSelected
    case .dtls: secured
    case .firstPacket: earliest(firstPacketSent, firstPacketReceived)
    }
  }
}

extension ConnectionTimeline.Phase: Comparable {
  public static func < (a: Self, b: Self) -> Bool {
    guard let one = allCases.firstIndex(of: a), let two = allCases.firstIndex(of: b) else {
      return false
    }
    return one < two
  }
}
