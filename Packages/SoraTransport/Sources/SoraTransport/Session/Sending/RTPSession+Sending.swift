import SoraCongestion
public import SoraMedia
import SoraRTP
import SoraWire

// What leaves.
extension RTPSession: PacedPacketSource {
  /// Longer than a key frame of a link that is wide enough.
  private static let staleWait = Duration.milliseconds(250)

  public var canPad: Bool { sendStreams.contains { $0.padding.newest != nil && $0.canPad } }

  public func send(_ token: PacketToken, at now: Instant) {
    guard let stream = sending[token.stream] else {
      counted.overtaken += 1
      return
    }
    if token.isRepair { return sendRepair(token.number, of: stream, at: now) }
    guard let packet = unsafe stream.history.stored(sequenceNumber: token.number) else {
      // It waited for so long that newer packets took its slot.
      stream.sender.counters.packetsDropped &+= 1
      counted.overtaken += 1
      return
    }
    if token.isRetransmission {
      if stream.parameters.rtx == nil {
        unsafe sendAgain(UnsafeRawBufferPointer(packet), token.number, on: stream, at: now)
      } else {
        unsafe retransmit(
          UnsafeRawBufferPointer(packet), token.number, on: stream, as: .retransmission, at: now)
      }
      return
    }
    guard var header = unsafe try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else {
      counted.unsendable += 1
      return
    }
    if header.ssrc != stream.parameters.ssrc {
      // It has waited since before a collision.
      header.ssrc = stream.parameters.ssrc
      unsafe RTPPacket.setSSRC(header.ssrc, in: packet)
    }
    let ecn = codepoint(of: stream)
    let sequence = unsafe stamp(packet, header, of: stream, at: now)
    if unsafe output.sendRTP(UnsafeRawBufferPointer(packet), ecn: ecn) {
      stream.sender.sent(
        token.number, count: packet.count, payload: header.payloadCount,
        transportSequence: sequence, as: .first, ecn: ecn, at: now)
      if let stored = stream.history.storedAt(sequenceNumber: token.number) {
        stream.sender.counters.totalPacketSendDelay += now - stored
      }
      stream.padding.packetLeft(token.number)
    } else {
      stream.sender.counters.packetsDropped &+= 1
    }
  }

  /// Sends a repair packet of a source of its own.
  private func sendRepair(_ number: UInt16, of stream: RTPSendStream, at now: Instant) {
    guard let packet = unsafe stream.repair?.history?.stored(sequenceNumber: number),
      let header = unsafe try? RTPHeader(parsing: UnsafeRawBufferPointer(packet))
    else {
      counted.overtaken += 1
      return
    }
    let ecn = codepoint(of: stream)
    _ = unsafe stamp(packet, header, of: stream, at: now)
    if unsafe !output.sendRTP(UnsafeRawBufferPointer(packet), ecn: ecn) {
      stream.sender.counters.packetsDropped &+= 1
    }
  }

  /// Sends a stored packet again as it left, bit by bit: SRTP gives one number one keystream, so no time and no transport-wide number
  /// of it may change.
  private func sendAgain(
    _ packet: UnsafeRawBufferPointer, _ number: UInt16, on stream: RTPSendStream, at now: Instant
  ) {
    guard let header = unsafe try? RTPHeader(parsing: packet),
      header.ssrc == stream.parameters.ssrc, unsafe output.sendRTPAgain(packet)
    else {
      stream.sender.counters.packetsDropped &+= 1
      return
    }
    let sequence = stream.sender.transportSequence(of: number)
    if let sequence { controller.sentAgain(sequence, at: now) }
    stream.sender.sent(
      number, count: packet.count, payload: header.payloadCount, transportSequence: sequence,
      as: .retransmission, at: now)
  }

  /// Fills a probe with one of the last packets of a video stream sent again, which repairs a loss if there was one.
  public func sendPadding(at now: Instant) -> Int? {
    for stream in sendStreams where stream.canPad {
      guard let (number, packet) = unsafe stream.paddingPacket() else { continue }
      return unsafe retransmit(packet, number, on: stream, as: .padding, at: now)
    }
    return nil
  }

  /// Sends a stored packet again on the retransmission source (RFC 4588).
  @discardableResult
  private func retransmit(
    _ original: UnsafeRawBufferPointer, _ number: UInt16, on stream: RTPSendStream,
    as sending: RTPTrackSender.Sending, at now: Instant
  ) -> Int? {
    guard let rtx = stream.parameters.rtx, let payloadType = stream.retransmissionPayloadType
    else { return nil }
    let map = stream.parameters.extensions
    var values = stream.sender.repairValues
    if stream.parameters.feedback != .bySource { values.transportSequenceNumber = 0 }
    values.absSendTime = 0
    return unsafe scratch.withUnsafeMutableBytes { scratch -> Int? in
      guard
        let writer = unsafe try? Retransmission.build(
          of: original, ssrc: rtx.ssrc, sequenceNumber: stream.sender.takeRTXNumber(),
          payloadType: payloadType, extensions: values, map: map, into: scratch)
      else {
        counted.unsendable += 1
        return nil
      }
      let packet = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<writer.count])
      guard let header = unsafe try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else {
        counted.unsendable += 1
        return nil
      }
      let ecn = codepoint(of: stream)
      let sequence = unsafe stamp(packet, header, of: stream, at: now)
      guard unsafe output.sendRTP(UnsafeRawBufferPointer(packet), ecn: ecn) else {
        if sending == .retransmission { stream.sender.counters.packetsDropped &+= 1 }
        return nil
      }
      stream.sender.sent(
        number, count: writer.count, payload: header.payloadCount, transportSequence: sequence,
        as: sending, ecn: ecn, at: now)
      return writer.count
    }
  }

  /// What the IP header of the next packet says. Only feedback by source tells what became of it.
  private func codepoint(of stream: RTPSendStream) -> ECNCodepoint {
    stream.parameters.feedback == .bySource ? controller.codepoint : .notECT
  }

  /// Writes what is known only when a packet really leaves: its time and its transport-wide number.
  ///
  /// - Returns: the number, extended; nil without one.
  private func stamp(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, of stream: RTPSendStream,
    at now: Instant
  ) -> Int64? {
    let bytes = UnsafeRawBufferPointer(packet)
    let map = stream.parameters.extensions
    if let id = map.absSendTime, let range = unsafe header.extensionRange(id: id, in: bytes) {
      unsafe RTPPacket.setAbsSendTime(
        RTPHeaderExtensions.absSendTime(at: now), at: range.lowerBound, in: packet)
    }
    if stream.parameters.feedback == .bySource {
      return controller.number(
        packetOf: packet.count, source: (header.ssrc, header.sequenceNumber), at: now)
    }
    guard let id = map.transportSequenceNumber,
      let range = unsafe header.extensionRange(id: id, in: bytes)
    else { return nil }
    let sequence = controller.number(packetOf: packet.count, at: now)
    unsafe RTPPacket.setTransportSequenceNumber(
      UInt16(truncatingIfNeeded: sequence), at: range.lowerBound, in: packet)
    return sequence
  }

  /// A key frame is about to wait: where what waits before it has done so for long, the link has become narrow, and nobody needs frames
  /// that would only make the key frame later. Their numbers are lost to the receiver, as if the link had dropped them.
  func discardStale(of stream: RTPSendStream, at now: Instant) {
    guard controller.waiting(at: now) > Self.staleWait else { return }
    controller.discard(stream: stream.index) { token in
      if !token.isRetransmission, !token.isRepair {
        stream.history.remove(sequenceNumber: token.number)
      }
      stream.sender.counters.packetsDropped &+= 1
      return true
    }
  }
}
