public import SoraMedia
import SoraRTP
public import SoraWire

extension RTPSession {
  /// Takes one plain RTP packet from the transport. `ecn` says how its datagram was marked.
  public func receiveRTP(
    _ packet: UnsafeMutableRawBufferPointer, ecn: ECNCodepoint = .notECT, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(packet)
    guard let header = unsafe try? RTPHeader(parsing: bytes) else {
      counted.malformedRTP += 1
      return
    }
    let values = unsafe RTPHeaderExtensions(of: header, in: bytes, map: receiveExtensions)
    rtcp.noteArrival(header, values, packetCount: bytes.count, ecn: ecn, at: now)
    guard let source = sources[header.ssrc] ?? newSource(header, values, at: now) else { return }
    switch source {
    case .media(let stream):
      guard let index = stream.payloadIndex(header.payloadType),
        stream.roles[index] != .retransmission, stream.roles[index] != .repair
      else {
        stream.counted.packetsDiscarded &+= 1
        counted.unknownPayloadType += 1
        return
      }
      stream.counted.count(ecn)
      stream.receiver.receive(header, packetCount: bytes.count, at: now)
      unsafe unwrap(header, bytes, values, index, on: stream, isRetransmission: false, at: now)
    case .retransmission(let stream):
      guard let index = stream.payloadIndex(header.payloadType),
        let original = stream.payloads[index].associatedType,
        let restored = unsafe stream.receiver.receiveRetransmission(
          header, in: bytes, payloadType: original, at: now)
      else {
        stream.counted.retransmissionsDiscarded &+= 1
        counted.unusableRetransmission += 1
        return
      }
      stream.counted.count(ecn)
      let before = stream.jitterBuffer?.statistics.packetsDiscarded.total ?? 0
      unsafe unwrap(
        restored, bytes, values, stream.payloadIndex(original), on: stream, isRetransmission: true,
        at: now)
      if stream.jitterBuffer?.statistics.packetsDiscarded.total ?? 0 > before {
        stream.counted.retransmissionsDiscarded &+= 1
      }
    case .repair(let stream):
      guard let index = stream.payloadIndex(header.payloadType), stream.roles[index] == .repair,
        let fec = stream.repairDecoder(index)
      else {
        stream.counted.packetsDiscarded &+= 1
        counted.unknownPayloadType += 1
        return
      }
      unsafe fec.receivedRepair(header.payload(in: bytes).bytes)
      takeRecovered(on: stream, at: now)
    }
  }

  // MARK: Repair

  /// Takes a packet of a stream, or the one inside its RED (RFC 2198), and lets repair packets have it too.
  private func unwrap(
    _ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ values: RTPHeaderExtensions,
    _ index: Int?, on stream: RTPReceiveStream, isRetransmission: Bool, at now: Instant
  ) {
    guard let index else { return }
    if stream.roles[index] == .telephoneEvent {
      return unsafe takeTones(header, header.payload(in: packet).bytes, on: stream, at: now)
    }
    guard let fec = stream.fec else {
      if stream.roles[index] == .media { stream.noteCodec(index) }
      return unsafe take(
        header, packet, values, on: stream, isRetransmission: isRetransmission, at: now)
    }
    var media = header
    var block = index
    if stream.roles[index] == .red {
      // One block, as everybody sends it. What stands in front of others would be copies of older packets.
      guard header.payloadCount > REDPayload.primaryHeaderCount,
        let inside = unsafe stream.payloadIndex(packet[header.payloadOffset])
      else {
        stream.counted.packetsDiscarded &+= 1
        return
      }
      block = inside
      unsafe media.payloadType = packet[header.payloadOffset]
      media.payloadOffset += REDPayload.primaryHeaderCount
      media.payloadCount -= REDPayload.primaryHeaderCount
    }
    switch stream.roles[block] {
    case .repair:
      unsafe stream.repairDecoder(block)?.receivedRepair(media.payload(in: packet).bytes)
      // Its number is no gap.
      media.payloadCount = 0
      unsafe take(media, packet, values, on: stream, isRetransmission: isRetransmission, at: now)
    case .media:
      stream.noteCodec(block)
      if !isRetransmission {
        let protected = unsafe FECPacket(
          packet.bytes, header: header, red: media.payloadOffset - header.payloadOffset,
          payloadType: media.payloadType, map: receiveExtensions)
        unsafe fec.received(packet.bytes, protected, number: header.sequenceNumber)
      }
      unsafe take(media, packet, values, on: stream, isRetransmission: isRetransmission, at: now)
    case .red, .retransmission, .telephoneEvent: stream.counted.packetsDiscarded &+= 1
    }
    takeRecovered(on: stream, at: now)
  }

  /// Packets that repair packets have made anew go the way of those that came.
  private func takeRecovered(on stream: RTPReceiveStream, at now: Instant) {
    guard let fec = stream.fec else { return }
    while fec.nextRecovered({ packet in
      unsafe packet.withUnsafeBytes { bytes in
        guard let header = unsafe try? RTPHeader(parsing: bytes),
          let index = stream.payloadIndex(header.payloadType), stream.roles[index] == .media
        else { return }
        stream.receiver.recovered(header.sequenceNumber, at: now)
        let values = unsafe RTPHeaderExtensions(of: header, in: bytes, map: receiveExtensions)
        unsafe take(header, bytes, values, on: stream, isRetransmission: true, at: now)
      }
    }) {}
  }

  private func take(
    _ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ values: RTPHeaderExtensions,
    on stream: RTPReceiveStream, isRetransmission: Bool, at now: Instant
  ) {
    let payload = unsafe header.payload(in: packet)
    if let buffer = stream.jitterBuffer {
      let descriptor = receiveExtensions.dependencyDescriptor.flatMap {
        unsafe header.extensionRange(id: $0, in: packet)
      }
      unsafe buffer.insert(
        header, payload: payload, isRetransmission: isRetransmission,
        rotation: values.videoOrientation,
        dependencyDescriptor: UnsafeRawBufferPointer(rebasing: packet[descriptor ?? 0..<0]),
        at: now)
      releaseFrames(of: stream, at: now)
    } else if unsafe !payload.isEmpty {
      stream.lastAudioLevel = values.audioLevel
      unsafe delegate?.session(self, receivedAudio: payload, header: header, on: stream, at: now)
    } else {
      counted.emptySound += 1
    }
  }

  /// Gives out every frame that is due.
  func releaseFrames(at now: Instant) {
    for stream in receiveStreams where stream.jitterBuffer != nil {
      releaseFrames(of: stream, at: now)
    }
  }

  private func releaseFrames(of stream: RTPReceiveStream, at now: Instant) {
    guard let buffer = stream.jitterBuffer else { return }
    while let frame = buffer.nextFrame(at: now) {
      stream.counted.framesReceived &+= 1
      if frame.isKeyFrame {
        stream.counted.keyFramesReceived &+= 1
        stream.receiver.keyFrames.answered()
      }
      delegate?.session(self, received: frame, on: stream, at: now)
    }
    let receiver = stream.receiver
    if let number = buffer.oldestUsefulSequenceNumber { receiver.discardMissing(before: number) }
    // Losses that were given up are the jitter buffer's to judge.
    if receiver.takeLoss() == .keyFrameNeeded { stream.requestKeyFrame() }
    // The buffer asks again by itself while it has to.
    if buffer.takeKeyFrameRequest(at: now),
      receiver.keyFrames.takeAtOnce(roundTrip: roundTrip, at: now)
    {
      rtcp.requestKeyFrame(of: receiver)
    }
  }

  /// Finds out what a source is that was never seen: by what the description says, by its mid, or by its payload
  /// type where only one section has that (RFC 8843 §9.2).
  private func newSource(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, at now: Instant
  ) -> Source? {
    if isRetired(header.ssrc, at: now) {
      counted.endedSource += 1
      return nil
    }
    guard sources.count < Self.maximumSources else {
      counted.tooManySources += 1
      return nil
    }
    guard let section = section(of: header, values),
      let payload = section.payload(header.payloadType)
    else {
      counted.unknownSource += 1
      return nil
    }
    if isOurs(header.ssrc) { resolveCollision(over: header.ssrc) }
    let source: Source
    if let format = payload.repairFormat {
      // ULPFEC has no source of its own.
      guard format == .flexible03, let stream = protectedStream(header.ssrc, in: section) else {
        counted.unknownSource += 1
        return nil
      }
      source = .repair(of: stream)
    } else if payload.associatedType != nil {
      guard let stream = repairedStream(header.ssrc, values.repairedRid, in: section) else {
        counted.unknownSource += 1
        return nil
      }
      if let old = stream.rtxSSRC { sources[old] = nil }
      stream.rtxSSRC = header.ssrc
      source = .retransmission(of: stream)
    } else {
      let rid = section.rids.isEmpty ? nil : values.rid?.description
      guard section.rids.isEmpty || rid.map({ section.rids.contains($0) }) ?? false else {
        counted.unknownSource += 1
        return nil
      }
      // One section, or one layer of it, carries one stream: a new source takes the old one's place.
      for old in receiveStreams where old.mid == section.mid && old.rid == rid {
        remove(old, at: now)
      }
      let stream = RTPReceiveStream(section, rid: rid, ssrc: header.ssrc, payload: payload)
      if let roundTrip { stream.setRoundTrip(roundTrip) }
      receiveStreams.append(stream)
      source = .media(stream)
    }
    sources[header.ssrc] = source
    return source
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
    if let match, let live = receiveStreams.first(where: { $0.mid == match.mid }),
      match.signalledSSRCs.contains(live.ssrc),
      let payload = match.payload(header.payloadType), payload.associatedType == nil,
      payload.repairFormat == nil
    {
      return nil
    }
    return match
  }

  // MARK: Ended sources

  /// Packets of a source that ended may still be under way. They don't make it anew: that would end its successor.
  private func isRetired(_ ssrc: UInt32, at now: Instant) -> Bool {
    for source in retired where source.ssrc == ssrc { return now < source.until }
    return false
  }

  /// Notes that a source ended.
  func retire(_ ssrc: UInt32, at now: Instant) {
    retired.removeAll { $0.ssrc == ssrc || $0.until <= now }
    if retired.count == Self.maximumRetired { retired.removeFirst() }
    retired.append((ssrc, now + .seconds(1)))
  }

  /// The stream that a retransmission source repairs: the one that the description pairs it with, or that its packets name
  /// (RFC 8852 §3.2), else the section's.
  private func repairedStream(
    _ ssrc: UInt32, _ rid: RTPExtensionText?, in section: RTPReceiveParameters
  ) -> RTPReceiveStream? {
    if let pair = section.retransmissionPairs.first(where: { $0.rtx == ssrc }),
      let stream = receiveStreams.first(where: { $0.ssrc == pair.primary })
    {
      return stream
    }
    guard !section.rids.isEmpty else { return receiveStreams.first { $0.mid == section.mid } }
    guard let rid = rid?.description else { return nil }
    return receiveStreams.first { $0.mid == section.mid && $0.rid == rid }
  }

  /// The stream that a source of repair packets protects: the one that the description pairs it with, else the section's.
  private func protectedStream(
    _ ssrc: UInt32, in section: RTPReceiveParameters
  ) -> RTPReceiveStream? {
    if let pair = section.repairPairs.first(where: { $0.repair == ssrc }) {
      return receiveStreams.first { $0.ssrc == pair.primary }
    }
    let streams = receiveStreams.filter { $0.mid == section.mid }
    return streams.count == 1 ? streams[0] : nil
  }
}
