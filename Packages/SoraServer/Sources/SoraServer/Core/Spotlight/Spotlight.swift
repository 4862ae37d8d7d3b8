package import SoraMedia
package import SoraRTP

/// Who is in a channel's spotlight: those who have spoken last, as many as it has places, and those whom somebody has put there.
///
/// Places are taken by who has spoken for the configured time: a free one first, then that of who hasn't spoken for the longest time.
/// Where all speak, who talks much louder for a while takes the quietest one's. Who falls silent stays until somebody else speaks.
/// Who begins where somebody pauses is heard at once, before the place is its own. Plain memory and no clock of its own.
package struct Spotlight {
  package struct Change: Hashable, Sendable {
    package var id: String
    package var isFocused: Bool
    package var isFixed: Bool
  }

  private struct Place {
    var id: String
    var isFixed: Bool
    /// When it was known to speak last, or was put here.
    var spokeAt: Instant
    /// Nobody takes the place before.
    var keptUntil: Instant
  }

  package static let numbers = 1...8
  /// Whom somebody has put here stays so long, whoever speaks.
  private static let leastStay = Duration.seconds(5)
  /// Who is silent for so long may be followed by somebody, and at once be heard over.
  private static let silence = Duration.milliseconds(500)
  private static let pause = Duration.milliseconds(200)
  /// Who interrupts those who speak has to be so much louder (dB), and for so long.
  private static let interruption = 6.0
  private static let interruptionTime = Duration.seconds(2)

  package private(set) var number: Int
  private let delay: Duration
  private var meters: [String: SpeechMeter] = [:]
  private var places: [Place] = []
  private var changes: [Change] = []

  /// - Parameters:
  ///   - number: how many places there are, 1 to 8.
  ///   - delay: how long somebody has to speak for one.
  package init(number: Int, delay: Duration) {
    self.number = min(max(number, Self.numbers.lowerBound), Self.numbers.upperBound)
    self.delay = delay
  }

  // MARK: What is said

  /// Takes the level of one audio packet.
  ///
  /// - Returns: whether those who see the channel by its spotlight hear it: of who comes into the spotlight from its first sound on, and
  ///   always where it doesn't tell its level.
  package mutating func hear(_ level: RTPAudioLevel?, of id: String, at now: Instant) -> Bool {
    guard let level else { return true }
    let (isHeard, isSpeaking) = measure(level, of: id, at: now)
    if let index = places.firstIndex(where: { $0.id == id }) {
      if isSpeaking { places[index].spokeAt = now }
      return true
    }
    guard isHeard else { return false }
    guard isSpeaking else { return hasRoom(at: now) }
    return admit(id, at: now) || hasRoom(at: now)
  }

  private mutating func measure(
    _ level: RTPAudioLevel, of id: String, at now: Instant
  ) -> (isHeard: Bool, isSpeaking: Bool) {
    // Plain memory, taken out and put back: changing it where it is may cost an allocation.
    var meter = meters[id] ?? SpeechMeter(delay: delay)
    meter.hear(level, at: now)
    meters[id] = meter
    return (meter.isHeard(at: now), meter.isSpeaking)
  }

  /// Whether who spoke long enough would get a place.
  private func hasRoom(at now: Instant) -> Bool {
    places.count < number || silentPlace(Self.pause, at: now) != nil
  }

  /// The place of who hasn't spoken for the longest time, of those who are silent for so long.
  private func silentPlace(_ least: Duration, at now: Instant) -> Int? {
    var found: Int?
    for index in places.indices where isFree(places[index], at: now) {
      guard meters[places[index].id]?.silence(at: now).map({ $0 >= least }) ?? true else {
        continue
      }
      if let known = found, places[known].spokeAt <= places[index].spokeAt { continue }
      found = index
    }
    return found
  }

  private func isFree(_ place: Place, at now: Instant) -> Bool {
    !place.isFixed && place.keptUntil <= now
  }

  /// The place of who speaks much more quietly than this one, who has gone on for a while.
  private func quietPlace(for id: String, at now: Instant) -> Int? {
    guard let meter = meters[id], let duration = meter.duration(at: now),
      duration >= Self.interruptionTime
    else { return nil }
    var found: Int?
    var least = meter.loudness - Self.interruption
    for index in places.indices where isFree(places[index], at: now) {
      let loudness = meters[places[index].id]?.loudness ?? 0
      guard loudness <= least else { continue }
      (found, least) = (index, loudness)
    }
    return found
  }

  private mutating func admit(_ id: String, at now: Instant) -> Bool {
    if places.count >= number {
      guard let index = silentPlace(Self.silence, at: now) ?? quietPlace(for: id, at: now) else {
        return false
      }
      leave(index)
    }
    enter(Place(id: id, isFixed: false, spokeAt: now, keptUntil: now))
    return true
  }

  // MARK: What somebody wants

  /// Puts somebody into the spotlight.
  ///
  /// - Parameter isFixed: whether it stays there until it is taken out.
  /// - Returns: whether there was a place: not where all are fixed.
  package mutating func focus(_ id: String, isFixed: Bool, at now: Instant) -> Bool {
    let place = Place(id: id, isFixed: isFixed, spokeAt: now, keptUntil: now + Self.leastStay)
    if let index = places.firstIndex(where: { $0.id == id }) {
      let wasFixed = places[index].isFixed
      places[index] = place
      if wasFixed != isFixed {
        changes.append(Change(id: id, isFocused: true, isFixed: isFixed))
      }
      return true
    }
    if places.count >= number {
      guard let index = oldestPlace else { return false }
      leave(index)
    }
    enter(place)
    return true
  }

  /// Takes somebody out of it; speaking may bring it back.
  ///
  /// - Returns: whether it was there.
  @discardableResult
  package mutating func unfocus(_ id: String) -> Bool {
    meters[id] = nil
    guard let index = places.firstIndex(where: { $0.id == id }) else { return false }
    leave(index)
    return true
  }

  /// Changes how many places there are.
  package mutating func setNumber(_ number: Int) {
    self.number = min(max(number, Self.numbers.lowerBound), Self.numbers.upperBound)
    while places.count > self.number {
      leave(oldestPlace ?? places.count - 1)
    }
  }

  /// The place of who spoke first, but for those that are fixed.
  private var oldestPlace: Int? {
    places.indices.filter { !places[$0].isFixed }.min { places[$0].spokeAt < places[$1].spokeAt }
  }

  /// Somebody is gone, and its place is free; nobody needs to hear of that.
  package mutating func remove(_ id: String) {
    meters[id] = nil
    places.removeAll { $0.id == id }
    changes.removeAll { $0.id == id }
  }

  private mutating func enter(_ place: Place) {
    places.append(place)
    changes.append(Change(id: place.id, isFocused: true, isFixed: place.isFixed))
  }

  private mutating func leave(_ index: Int) {
    let place = places.remove(at: index)
    changes.append(Change(id: place.id, isFocused: false, isFixed: false))
  }

  // MARK: What it is

  /// Who is in it, in the order of coming.
  package var focused: [String] { places.map(\.id) }

  package func isFocused(_ id: String) -> Bool { places.contains { $0.id == id } }

  package func isFixed(_ id: String) -> Bool { places.contains { $0.id == id && $0.isFixed } }

  package var hasChanged: Bool { !changes.isEmpty }

  /// What has changed since this was called last, in its order.
  package mutating func takeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }
}
