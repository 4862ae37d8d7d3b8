/// Under which transport-wide numbers the newest packets of each source left: feedback by source (RFC 8888) names them by their own.
///
/// Empty while nobody gives such feedback.
struct SentSourceNumbers {
  /// Sources with their retransmissions and repairs; one more takes the place of one that has been silent for long. Where there is none,
  /// its packets go without feedback.
  private static let maximumSources = 64
  /// Packets that others have sent since.
  private static let silence: Int64 = 16_384
  /// Four seconds of 500 packets each.
  private static let capacity = 2048

  private struct Entry {
    var number: UInt16 = 0
    /// 0 where nothing was sent.
    var sequence: Int64 = 0
  }

  private struct Source {
    var ssrc: UInt32
    var entries = Array(repeating: Entry(), count: SentSourceNumbers.capacity)
    var latest: Int64 = 0
  }

  private var sources: [Source] = []
  /// Where the last one that was asked for is: feedback goes source by source.
  private var latest = 0

  /// A packet leaves.
  mutating func note(ssrc: UInt32, number: UInt16, sequence: Int64) {
    if index(of: ssrc) == nil {
      if sources.count >= Self.maximumSources {
        guard let silent = sources.firstIndex(where: { sequence - $0.latest >= Self.silence })
        else {
          return
        }
        sources.remove(at: silent)
      }
      sources.append(Source(ssrc: ssrc))
      latest = sources.count - 1
    }
    sources[latest].latest = sequence
    sources[latest].entries[Int(number) & (Self.capacity - 1)] = Entry(
      number: number, sequence: sequence)
  }

  /// The transport-wide number of a packet; nil where it isn't known any more.
  mutating func sequence(ssrc: UInt32, number: UInt16) -> Int64? {
    guard let index = index(of: ssrc) else { return nil }
    let entry = sources[index].entries[Int(number) & (Self.capacity - 1)]
    return entry.sequence > 0 && entry.number == number ? entry.sequence : nil
  }

  /// A source has ended.
  mutating func forget(ssrc: UInt32) {
    sources.removeAll { $0.ssrc == ssrc }
    latest = 0
  }

  private mutating func index(of ssrc: UInt32) -> Int? {
    if latest < sources.count, sources[latest].ssrc == ssrc { return latest }
    for index in sources.indices where sources[index].ssrc == ssrc {
      latest = index
      return index
    }
    return nil
  }
}
