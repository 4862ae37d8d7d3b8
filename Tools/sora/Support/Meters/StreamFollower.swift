package import SoraMedia

/// Which of a channel's streams is followed: one stays while it is there; then comes the newest that is.
///
/// A stream that shows pictures goes before one that doesn't.
package struct StreamFollower: Sendable {
  package struct Stream: Sendable, Equatable {
    package let id: String
    /// When it came, for the first time.
    package let since: Instant
    /// When it went; nil while it is there.
    package fileprivate(set) var goneSince: Instant?
    fileprivate var hasPicture = false
    fileprivate var hasSound = false

    package var isLive: Bool { goneSince == nil }
  }

  /// All that ever came, in the order in which they came.
  package private(set) var streams: [Stream] = []
  /// The stream that is followed, or was until it went; nil before the first.
  package private(set) var main: String?
  /// Since when no stream is there, where one was.
  package private(set) var noneSince: Instant?
  /// How often the last stream went.
  package private(set) var timesGone = 0
  private var goneBefore = Duration.zero

  package init() {}

  /// How long there was no stream, after the first, until `now`.
  package func gone(until now: Instant) -> Duration {
    goneBefore + (noneSince.map { max(.zero, now - $0) } ?? .zero)
  }

  package func stream(_ id: String) -> Stream? { streams.first { $0.id == id } }

  /// A stream came, or came again.
  package mutating func add(_ id: String, at now: Instant) {
    goneBefore = gone(until: now)
    noneSince = nil
    if let index = streams.firstIndex(where: { $0.id == id }) {
      streams[index].goneSince = nil
    } else {
      streams.append(Stream(id: id, since: now))
    }
    choose()
  }

  package mutating func remove(_ id: String, at now: Instant) {
    guard let index = streams.firstIndex(where: { $0.id == id }), streams[index].isLive else {
      return
    }
    streams[index].goneSince = now
    if !streams.contains(where: \.isLive) {
      noneSince = now
      timesGone += 1
    }
    choose()
  }

  /// A stream showed a picture. Returns whether it is the one that is followed.
  package mutating func picture(of id: String) -> Bool {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
    if !streams[index].hasPicture {
      streams[index].hasPicture = true
      choose()
    }
    return main == id
  }

  /// A stream sounded. Returns whether it is the one that is followed.
  package mutating func sound(of id: String) -> Bool {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
    if !streams[index].hasSound {
      streams[index].hasSound = true
      choose()
    }
    return main == id
  }

  private mutating func choose() {
    let live = streams.filter(\.isLive)
    let worth = { (stream: Stream) in stream.hasPicture ? 2 : stream.hasSound ? 1 : 0 }
    guard let best = live.map(worth).max() else { return }
    if let current = live.first(where: { $0.id == main }), worth(current) >= best { return }
    main = live.last { worth($0) == best }?.id
  }
}
