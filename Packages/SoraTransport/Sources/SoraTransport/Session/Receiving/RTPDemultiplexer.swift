import SoraMedia
import SoraRTP

/// The streams that a session receives, and what tells whose a packet is: what the description says of its source, its mid, or its
/// payload type (RFC 8843 §9.2). Confined to its session.
struct RTPDemultiplexer {
  /// What packets of a source are.
  enum Source {
    case media(RTPReceiveStream)
    case retransmission(of: RTPReceiveStream)
    case repair(of: RTPReceiveStream)
  }

  /// The section and the payload type that a new source was found by.
  struct Match {
    fileprivate let section: RTPReceiveParameters
    fileprivate let payload: RTPReceiveParameters.Payload
  }

  /// Why nobody takes a new source's packets.
  enum Refusal: Error {
    /// It said goodbye, was replaced, or its section has gone.
    case ended
    case tooMany
    /// No section has it, its mid or its payload type.
    case unknown
  }

  private static let maximumSources = 256
  private static let maximumRetired = 32

  private(set) var streams: [RTPReceiveStream] = []
  private var sections: [RTPReceiveParameters] = []
  private var sources: [UInt32: Source] = [:]
  /// Sources that ended lately.
  private var retired: [(ssrc: UInt32, until: Instant)] = []
  private var endedVideoDiscards = VideoJitterBufferStatistics.Discarded()

  /// What a source is that was seen before.
  subscript(ssrc: UInt32) -> Source? { sources[ssrc] }

  /// The stream whose media a source sends.
  func stream(ssrc: UInt32) -> RTPReceiveStream? {
    if case .media(let stream)? = sources[ssrc] { stream } else { nil }
  }

  /// Video packets that no jitter buffer used, of streams that were and that are.
  var videoPacketsDiscarded: VideoJitterBufferStatistics.Discarded {
    var sum = endedVideoDiscards
    for stream in streams {
      if let buffer = stream.jitterBuffer { sum += buffer.statistics.packetsDiscarded }
    }
    return sum
  }

  // MARK: Sections

  /// Sets what may be received from now on.
  ///
  /// - Returns: the streams whose sections are gone, which have ended.
  mutating func setSections(
    _ sections: [RTPReceiveParameters], at now: Instant
  ) -> [RTPReceiveStream] {
    let before = self.sections
    self.sections = sections
    var ended: [RTPReceiveStream] = []
    for stream in streams {
      guard let section = sections.first(where: { $0.mid == stream.mid }) else {
        ended.append(stream)
        continue
      }
      if section != before.first(where: { $0.mid == stream.mid }) { stream.setFormats(of: section) }
    }
    for stream in ended { remove(stream, at: now) }
    return ended
  }

  // MARK: New sources

  /// Finds the section of a source that was never seen.
  func match(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, at now: Instant
  ) throws(Refusal) -> Match {
    if isRetired(header.ssrc, at: now) { throw .ended }
    guard sources.count < Self.maximumSources else { throw .tooMany }
    guard let section = section(of: header, values),
      let payload = section.payload(header.payloadType)
    else { throw .unknown }
    return Match(section: section, payload: payload)
  }

  /// Takes a new source in, as a stream of its own or as what belongs to one.
  ///
  /// - Returns: what the source is, and the streams that have ended because it takes their place.
  mutating func admit(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, as match: Match, at now: Instant
  ) throws(Refusal) -> (source: Source, replaced: [RTPReceiveStream]) {
    let section = match.section
    var replaced: [RTPReceiveStream] = []
    let source: Source
    if let format = match.payload.repairFormat {
      // ULPFEC has no source of its own.
      guard format == .flexible03, let stream = protectedStream(header.ssrc, in: section) else {
        throw .unknown
      }
      source = .repair(of: stream)
    } else if match.payload.associatedType != nil {
      guard let stream = repairedStream(header.ssrc, values.repairedRid, in: section) else {
        throw .unknown
      }
      if let old = stream.rtxSSRC { sources[old] = nil }
      stream.rtxSSRC = header.ssrc
      source = .retransmission(of: stream)
    } else {
      let rid = section.rids.isEmpty ? nil : values.rid?.description
      guard section.rids.isEmpty || rid.map({ section.rids.contains($0) }) ?? false else {
        throw .unknown
      }
      // One section, or one layer of it, carries one stream: a new source takes the old one's place.
      replaced = streams.filter { $0.mid == section.mid && $0.rid == rid }
      for old in replaced { remove(old, at: now) }
      let stream = RTPReceiveStream(section, rid: rid, ssrc: header.ssrc, payload: match.payload)
      streams.append(stream)
      source = .media(stream)
    }
    sources[header.ssrc] = source
    return (source, replaced)
  }

  private func section(
    of header: RTPHeader, _ values: RTPHeaderExtensions
  ) -> RTPReceiveParameters? {
    if let mid = values.mid?.description {
      return sections.first { $0.mid == mid }
    }
    if let section = sections.first(where: { section in
      section.signalledSSRCs.contains(header.ssrc)
        || section.retransmissionPairs.contains { $0.rtx == header.ssrc }
        || section.repairPairs.contains { $0.repair == header.ssrc }
    }) {
      return section
    }
    var match: RTPReceiveParameters?
    for section in sections where section.payload(header.payloadType) != nil {
      if match != nil { return nil }
      match = section
    }
    // A source that nothing but its payload type speaks for doesn't take the place of one that was signalled.
    if let match, let live = streams.first(where: { $0.mid == match.mid }),
      match.signalledSSRCs.contains(live.ssrc),
      let payload = match.payload(header.payloadType), payload.associatedType == nil,
      payload.repairFormat == nil
    {
      return nil
    }
    return match
  }

  /// The stream that a retransmission source repairs: the one that the description pairs it with, or that its packets name
  /// (RFC 8852 §3.2), else the section's.
  private func repairedStream(
    _ ssrc: UInt32, _ rid: RTPExtensionText?, in section: RTPReceiveParameters
  ) -> RTPReceiveStream? {
    if let pair = section.retransmissionPairs.first(where: { $0.rtx == ssrc }),
      let stream = streams.first(where: { $0.ssrc == pair.primary })
    {
      return stream
    }
    guard !section.rids.isEmpty else { return streams.first { $0.mid == section.mid } }
    guard let rid = rid?.description else { return nil }
    return streams.first { $0.mid == section.mid && $0.rid == rid }
  }

  /// The stream that a source of repair packets protects: the one that the description pairs it with, else the section's.
  private func protectedStream(
    _ ssrc: UInt32, in section: RTPReceiveParameters
  ) -> RTPReceiveStream? {
    if let pair = section.repairPairs.first(where: { $0.repair == ssrc }) {
      return streams.first { $0.ssrc == pair.primary }
    }
    let streams = streams.filter { $0.mid == section.mid }
    return streams.count == 1 ? streams[0] : nil
  }

  // MARK: Ended sources

  /// Ends a stream and all its sources.
  mutating func remove(_ stream: RTPReceiveStream, at now: Instant) {
    retire(stream.ssrc, at: now)
    if let rtx = stream.rtxSSRC { retire(rtx, at: now) }
    if let buffer = stream.jitterBuffer { endedVideoDiscards += buffer.statistics.packetsDiscarded }
    streams.removeAll { $0 === stream }
    sources = sources.filter { _, source in
      switch source {
      case .media(let other), .retransmission(let other), .repair(let other): other !== stream
      }
    }
  }

  /// Packets of a source that ended may still be under way. They don't make it anew: that would end its successor.
  private func isRetired(_ ssrc: UInt32, at now: Instant) -> Bool {
    for source in retired where source.ssrc == ssrc { return now < source.until }
    return false
  }

  private mutating func retire(_ ssrc: UInt32, at now: Instant) {
    retired.removeAll { $0.ssrc == ssrc || $0.until <= now }
    if retired.count == Self.maximumRetired { retired.removeFirst() }
    retired.append((ssrc, now + .seconds(1)))
  }
}
