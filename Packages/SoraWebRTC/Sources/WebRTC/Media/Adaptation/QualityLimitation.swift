package import SoraMedia

/// Why a video isn't sent as it was captured (W3C webrtc-stats `RTCQualityLimitationReason`).
public enum QualityLimitationReason: String, Sendable, Hashable, CaseIterable {
  case none, cpu, bandwidth, other
}

/// How long a video has been limited for which reason, and how often its size changed for it.
package struct QualityLimitation: Sendable {
  package private(set) var reason = QualityLimitationReason.none
  /// W3C `qualityLimitationResolutionChanges`.
  package private(set) var resolutionChanges: UInt64 = 0
  private var since: Instant?
  private var none = Duration.zero
  private var cpu = Duration.zero
  private var bandwidth = Duration.zero
  private var other = Duration.zero

  package init() {}

  /// The reason from now on. The first call starts the clock.
  package mutating func set(_ reason: QualityLimitationReason, at now: Instant) {
    if let since, now > since { self[self.reason] += now - since }
    since = max(now, since ?? now)
    self.reason = reason
  }

  /// The clock stands still until the next reason.
  package mutating func end(at now: Instant) {
    set(reason, at: now)
    since = nil
  }

  /// Counts what was counted of the same stream before, up to an end.
  package mutating func add(_ earlier: QualityLimitation) {
    for reason in QualityLimitationReason.allCases { self[reason] += earlier[reason] }
    resolutionChanges &+= earlier.resolutionChanges
  }

  package mutating func countResolutionChange() { resolutionChanges &+= 1 }

  /// W3C `qualityLimitationDurations` up to `now`, in seconds.
  package func durations(at now: Instant) -> [String: Double] {
    var copy = self
    if since != nil { copy.set(reason, at: now) }
    return Dictionary(
      uniqueKeysWithValues: QualityLimitationReason.allCases.map {
        ($0.rawValue, copy[$0].inSeconds)
      })
  }

  private subscript(reason: QualityLimitationReason) -> Duration {
    get {
      switch reason {
      case .none: none
      case .cpu: cpu
      case .bandwidth: bandwidth
      case .other: other
      }
    }
    set {
      switch reason {
      case .none: none = newValue
      case .cpu: cpu = newValue
      case .bandwidth: bandwidth = newValue
      case .other: other = newValue
      }
    }
  }
}
