public import SoraMedia
public import SoraWire

// For callers that still hold pointers. Nothing here reads or writes: each makes a span and passes it on.

extension STUNMessage {
  /// `init(parsing:)` for a caller with a pointer.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(STUNError) {
    unsafe try self.init(parsing: bytes.bytes)
  }

  /// `isAuthentic(_:key:)` for a caller with a pointer.
  public func isAuthentic(_ bytes: UnsafeRawBufferPointer, key: [UInt8]) -> Bool {
    unsafe isAuthentic(bytes.bytes, key: key)
  }

  /// `isAuthenticSHA256(_:key:)` for a caller with a pointer.
  public func isAuthenticSHA256(_ bytes: UnsafeRawBufferPointer, key: [UInt8]) -> Bool {
    unsafe isAuthenticSHA256(bytes.bytes, key: key)
  }
}

/// `isSTUN(_:)` for a caller with a pointer.
public func isSTUN(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe isSTUN(bytes.bytes) }

extension STUNBindingClient {
  /// `receive(_:at:)` for a caller with a pointer.
  public func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> Bool {
    unsafe receive(bytes.bytes, at: now)
  }
}

extension DNSMessage {
  /// `init(parsing:)` for a caller with a pointer.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(Failure) {
    unsafe try self.init(parsing: bytes.bytes)
  }
}

extension MulticastDNS {
  /// `receive(_:)` for a caller with a pointer.
  public func receive(_ bytes: UnsafeRawBufferPointer) -> IPAddress? { unsafe receive(bytes.bytes) }
}

extension ICEAgent {
  /// `receive(_:from:on:at:)` for a caller with a pointer.
  public func receive(
    _ bytes: UnsafeRawBufferPointer, from remote: TransportAddress, on local: TransportAddress,
    at now: Instant
  ) {
    unsafe receive(bytes.bytes, from: remote, on: local, at: now)
  }
}

extension TURNServer {
  /// `receive(_:from:at:)` for a caller with a pointer.
  public func receive(_ bytes: UnsafeRawBufferPointer, from client: Client, at now: Instant) {
    unsafe receive(bytes.bytes, from: client, at: now)
  }

  /// `receiveRelayed(_:from:on:at:)` for a caller with a pointer.
  public func receiveRelayed(
    _ bytes: UnsafeRawBufferPointer, from peer: TransportAddress, on relay: TransportAddress,
    at now: Instant
  ) {
    unsafe receiveRelayed(bytes.bytes, from: peer, on: relay, at: now)
  }
}

extension TURNClient {
  /// `receive(_:at:)` for a caller with a pointer.
  public func receive(_ bytes: UnsafeMutableRawBufferPointer, at now: Instant) -> Received {
    unsafe receive(bytes.bytes, at: now)
  }

  /// `write(to:into:_:)` for a caller with a pointer.
  public func write(
    to peer: TransportAddress, into slot: UnsafeMutableRawBufferPointer,
    _ body: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Int {
    unsafe slot.withMutableRawSpan { slot in
      write(to: peer, into: &slot) { room in unsafe room.withUnsafeMutableBytes(body) }
    }
  }
}

extension ICERelay {
  /// `write(to:into:_:)` for a caller with a pointer.
  public func write(
    to peer: TransportAddress, into slot: UnsafeMutableRawBufferPointer,
    _ body: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Int {
    unsafe client.write(to: peer, into: slot, body)
  }
}

extension ICEGatherer {
  /// `receive(_:from:on:at:)` for a caller with a pointer.
  public func receive(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) -> Received {
    unsafe receive(bytes.bytes, from: remote, on: local, at: now)
  }

  /// `streamReceived(_:_:at:_:)` for a caller with a pointer.
  public func streamReceived(
    _ stream: Int, _ bytes: UnsafeRawBufferPointer, at now: Instant,
    _ body: (inout MutableRawSpan, TransportAddress, TransportAddress) -> Void
  ) {
    unsafe streamReceived(stream, bytes.bytes, at: now, body)
  }
}

extension TURNStreamDeframer {
  /// `append(_:_:)` for a caller with a pointer.
  public mutating func append(
    _ bytes: UnsafeRawBufferPointer, _ body: (inout MutableRawSpan) -> Void
  ) throws(Unreadable) {
    unsafe try append(bytes.bytes, body)
  }
}
