import SoraCongestion
import SoraMedia

/// How what the network takes is split among what is sent: `BandwidthAllocator` with the terms of the negotiated sections. Plain
/// memory.
struct SendBandwidth {
  /// What a video without a limit of its own can use: enough for the largest frames that are encoded here.
  private static let usefulVideo = Bitrate.megabits(5)
  private static let usefulAudio = Bitrate.kilobits(128)
  /// What audio without a limit takes.
  private static let usualAudio = Bitrate.kilobits(64)

  /// The estimate less what retransmissions take.
  private(set) var target: Bitrate
  /// By transceiver.
  private(set) var shares: [Int: BandwidthAllocator.Share] = [:]
  /// What can be used at all, with headers, retransmissions and reports: probing the path further would only load it.
  private(set) var useful: Bitrate
  private let maximum: Bitrate
  /// What is sent, with the other side's limits.
  private var sections: [(id: Int, kind: MediaKind, limit: Bitrate?)] = []
  /// Of videos that come encoded, as their sources give them.
  private var sourceRates: [Int: Bitrate] = [:]
  private var allocator = BandwidthAllocator()
  private var streams: [BandwidthAllocator.Stream] = []
  /// The latest split in the order of `streams`; its memory serves the next.
  private var inOrder: [BandwidthAllocator.Share] = []

  init(start: Bitrate, maximum: Bitrate) {
    target = start
    useful = maximum
    self.maximum = maximum
  }

  /// Takes the sections in use.
  mutating func setMedia(_ media: [NegotiatedMedia], at now: Instant) {
    sections = media.compactMap { section in
      section.send.map { send in
        let limit = send.maximumBitrate.map { Bitrate(bitsPerSecond: $0) }
        return (section.transceiverID, section.kind, limit)
      }
    }
    sourceRates = sourceRates.filter { rate in sections.contains { $0.id == rate.key } }
    streams = sections.map { id, kind, limit in
      BandwidthAllocator.Stream(
        id: id, kind: kind,
        demand: kind == .video
          ? .range(minimum: BandwidthAllocator.leastVideo, maximum: limit ?? .unlimited)
          : .range(minimum: .zero, maximum: min(limit ?? Self.usualAudio, Self.usefulAudio)))
    }
    setUseful()
    split(at: now)
  }

  /// Takes what the source of a video gives that isn't encoded here and can't be made smaller; zero where that is over.
  mutating func setSourceRate(_ rate: Bitrate, id: Int) {
    guard sections.contains(where: { $0.id == id }) else { return }
    sourceRates[id] = rate > .zero ? rate : nil
    setUseful()
  }

  private mutating func setUseful() {
    var total = Bitrate.zero
    for (id, kind, limit) in sections {
      let wanted =
        kind == .video ? max(Self.usefulVideo, sourceRates[id] ?? .zero) : Self.usefulAudio
      total = total + (limit ?? wanted)
    }
    useful = min(maximum, max(.kilobits(300), total * 1.2))
  }

  mutating func setTarget(_ target: Bitrate, at now: Instant) {
    self.target = target
    split(at: now)
  }

  private mutating func split(at now: Instant) {
    allocator.allocate(target, among: streams, at: now, into: &inOrder)
    shares.removeAll(keepingCapacity: true)
    for share in inOrder { shares[share.id] = share }
  }
}
