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
    guard let source = receiving[header.ssrc] ?? newSource(header, values, at: now) else { return }
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
}
