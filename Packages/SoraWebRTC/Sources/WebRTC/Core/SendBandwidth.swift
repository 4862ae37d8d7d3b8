import SoraCongestion
import SoraMedia

/// How what the network takes is split among what is sent: `BandwidthAllocator` with the terms of the negotiated sections. Plain
/// memory.
struct SendBandwidth {
  /// What a video without a limit of its own can use: enough for the largest frames.
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
    var total = Bitrate.zero
    streams = media.compactMap { section in
      guard let send = section.send else { return nil }
      let limit = send.maximumBitrate.map { Bitrate(bitsPerSecond: $0) }
      total = total + (limit ?? (section.kind == .video ? Self.usefulVideo : Self.usefulAudio))
      return BandwidthAllocator.Stream(
        id: section.transceiverID, kind: section.kind,
        demand: section.kind == .video
          ? .range(minimum: BandwidthAllocator.leastVideo, maximum: limit ?? .unlimited)
          : .range(minimum: .zero, maximum: min(limit ?? Self.usualAudio, Self.usefulAudio)))
    }
    useful = min(maximum, max(.kilobits(300), total * 1.2))
    split(at: now)
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
