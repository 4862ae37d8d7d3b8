import SoraICE
public import SoraMedia
import SoraSRTP
public import SoraWire

extension PeerTransport {
  /// Whether protected packets can be sent now.
  public var isWritable: Bool { srtp.session != nil && traffic.path != nil }

  /// Protects a plain RTP packet straight into the datagram that carries it.
  ///
  /// - Parameters:
  ///   - packet: the packet.
  ///   - ecn: what the datagram's IP header is to say. Through a relay it leaves unmarked: the server may forget marks (RFC 8656 §12.5).
  /// - Returns: whether it was handed to the sink.
  @discardableResult
  public func sendRTP(_ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint = .notECT) -> Bool {
    unsafe send(packet, ecn: ecn) { srtp, slot throws(SRTPError) in
      unsafe try srtp.protectRTP(from: packet, into: slot)
    }
  }

  /// Sends a plain RTP packet once more that left before; it must not have changed in any bit since.
  ///
  /// - Returns: whether it was handed to the sink.
  @discardableResult
  public func sendRTPAgain(_ packet: UnsafeRawBufferPointer) -> Bool {
    unsafe send(packet) { srtp, slot throws(SRTPError) in
      unsafe try srtp.protectRTPAgain(from: packet, into: slot)
    }
  }

  private func send(
    _ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint = .notECT,
    protect: (SRTPSession, UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int
  ) -> Bool {
    guard let srtp = srtp.session, let path = traffic.path else {
      counters.dropped.notConnected &+= 1
      return false
    }
    var sent = false
    unsafe carry(on: path, ecn: ecn, capacity: packet.count + Self.protectionOverhead) { slot in
      guard let count = unsafe try? protect(srtp, slot) else {
        counters.dropped.protectionFailed &+= 1
        return 0
      }
      sent = true
      countSent(count)
      noteFirstPacket()
      return count
    }
    return sent
  }

  /// Lends the datagram's own memory to write a plain RTP packet into, then protects it in place.
  ///
  /// - Parameters:
  ///   - capacity: bytes that `write` needs at most.
  ///   - payload: a payload that lies elsewhere and stays as it is; nil where `write` writes it.
  ///   - ecn: what the datagram's IP header is to say, unless it goes through a relay.
  ///   - write: returns the size of what it wrote, the plain packet or its header; 0 sends nothing.
  /// - Returns: whether it was handed to the sink.
  @discardableResult
  public func sendRTP(
    capacity: Int, payload: RawSpan? = nil, ecn: ECNCodepoint = .notECT,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    let isSent = unsafe sendInPlace(
      capacity: capacity + (payload?.byteCount ?? 0), ecn: ecn, write
    ) { srtp, slot, count throws(SRTPError) in
      unsafe try srtp.protectRTP(slot, count: count, payload: payload)
    }
    if isSent { noteFirstPacket() }
    return isSent
  }

  /// Like `sendRTP(capacity:_:)`, for a compound RTCP packet.
  @discardableResult
  public func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
    unsafe sendInPlace(capacity: capacity, write) { srtp, slot, count throws(SRTPError) in
      unsafe try srtp.protectRTCP(slot, count: count)
    }
  }

  /// Bytes of the largest message that `sendData` takes; 0 before DTLS has agreed on keys.
  public var maximumDataSize: Int { dtlsState == .connected ? dtls.maximumMessageCount : 0 }

  /// Sends one message inside of DTLS, written straight into the datagram that carries it.
  ///
  /// - Returns: whether it was handed to the sink.
  @discardableResult
  public func sendData(_ message: RawSpan, at now: Instant) -> Bool {
    guard dtlsState == .connected, let path = traffic.path else {
      counters.dropped.notConnected &+= 1
      return false
    }
    advance(to: now)
    var sent = false
    unsafe carry(on: path, capacity: message.byteCount + DTLSTransport.overhead) { slot in
      let count = unsafe slot.withMutableRawSpan { dtls.write(message, into: &$0, at: now) }
      guard count > 0 else { return 0 }
      sent = true
      countSent(count)
      return count
    }
    // A renewal of keys may follow.
    flushDTLS()
    return sent
  }

  /// Lets go of what protection knows of a source that has ended for good: no RTP packet may leave from it any more.
  public func forgetSource(_ ssrc: UInt32) { srtp.session?.forgetSent(ssrc) }

  /// How many sources that were sent something is known of.
  public var sentSourceCount: Int { srtp.session?.sentSourceCount ?? 0 }

  /// Bytes that SRTP and SRTCP add at most: a 16-byte tag, a 4-byte index (RFC 7714 §9), and slack for alignment.
  static let protectionOverhead = 32

  private func sendInPlace(
    capacity: Int, ecn: ECNCodepoint = .notECT, _ write: (UnsafeMutableRawBufferPointer) -> Int,
    protect: (SRTPSession, UnsafeMutableRawBufferPointer, Int) throws(SRTPError) -> Int
  ) -> Bool {
    guard let srtp = srtp.session, let path = traffic.path else {
      counters.dropped.notConnected &+= 1
      return false
    }
    var sent = false
    unsafe carry(on: path, ecn: ecn, capacity: capacity + Self.protectionOverhead) { slot in
      let room = unsafe UnsafeMutableRawBufferPointer(
        rebasing: slot[..<max(0, slot.count - Self.protectionOverhead)])
      let written = unsafe write(room)
      guard written > 0 else { return 0 }
      do throws(SRTPError) {
        let count = unsafe try protect(srtp, slot, written)
        sent = true
        countSent(count)
        return count
      } catch {
        counters.dropped.protectionFailed &+= 1
        return 0
      }
    }
    return sent
  }

  // MARK: Paths

  func path(from local: TransportAddress, to remote: TransportAddress) -> Path {
    Path(local: local, remote: remote, relay: servers.relay(at: local))
  }

  /// Lends memory for one packet to the peer, behind what a relay wants before it.
  @inline(__always)
  func carry(
    on path: Path, ecn: ECNCodepoint = .notECT, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard let relay = path.relay else {
      unsafe sink.send(from: path.local, to: path.remote, ecn: ecn, capacity: capacity, write)
      return
    }
    unsafe carry(through: relay, to: path.remote, capacity: capacity, write)
  }

  private func carry(
    through relay: ICERelay, to peer: TransportAddress, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    let room = capacity + ICERelay.maximumOverhead
    if let base = relay.base {
      unsafe sink.send(
        from: base, to: relay.serverAddress, ecn: .notECT, capacity: room
      ) { slot in
        unsafe self.write(through: relay, to: peer, into: slot, write)
      }
    } else if let stream = relay.stream {
      unsafe streams?.send(stream, capacity: room) { slot in
        unsafe self.write(through: relay, to: peer, into: slot, write)
      }
    }
  }

  @inline(__always)
  private func write(
    through relay: ICERelay, to peer: TransportAddress, into slot: UnsafeMutableRawBufferPointer,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Int {
    var isAsked = false
    let count = unsafe relay.write(to: peer, into: slot) { room in
      isAsked = true
      return unsafe write(room)
    }
    if !isAsked { counters.dropped.relayRefused &+= 1 }
    return count
  }

  func send(_ bytes: [UInt8], on path: Path) {
    unsafe carry(on: path, capacity: bytes.count) { slot in
      unsafe slot.copyBytes(from: bytes)
      counters.countSent(bytes.count)
      return bytes.count
    }
  }
}
