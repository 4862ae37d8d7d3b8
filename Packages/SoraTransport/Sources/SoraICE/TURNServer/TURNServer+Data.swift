public import SoraMedia

extension TURNServer {
  func receiveChannelData(
    _ bytes: UnsafeRawBufferPointer, from client: Client, at now: Instant
  ) {
    let count = Int(bytes.bigEndian16(at: 2))
    guard count <= bytes.count - 4 else { return statistics.malformed += 1 }
    guard let allocation = allocations[client], allocation.expiresAt > now,
      let channel = allocation.channels[bytes.bigEndian16(at: 0)], channel.expiresAt > now
    else { return statistics.unexpectedData += 1 }
    relay(
      UnsafeRawBufferPointer(rebasing: bytes[4..<4 + count]), to: channel.peer, allocation, at: now)
  }

  func receiveIndication(_ bytes: UnsafeRawBufferPointer, from client: Client, at now: Instant) {
    guard let (peer, payload) = TURNFrame.readIndication(bytes) else {
      return statistics.malformed += 1
    }
    guard let allocation = allocations[client], allocation.expiresAt > now else {
      return statistics.unexpectedData += 1
    }
    relay(UnsafeRawBufferPointer(rebasing: bytes[payload]), to: peer, allocation, at: now)
  }

  private func relay(
    _ payload: UnsafeRawBufferPointer, to peer: TransportAddress, _ allocation: Allocation,
    at now: Instant
  ) {
    // RFC 8656 §11.2: the permission decides, for channels too.
    guard let end = allocation.permissions[peer.ip], end > now else {
      return statistics.notPermitted += 1
    }
    statistics.datagramsToPeers &+= 1
    statistics.bytesToPeers &+= UInt64(payload.count)
    network.sendRelayed(from: allocation.relay, to: peer, capacity: payload.count) { slot in
      slot.copyMemory(from: payload)
      return payload.count
    }
  }

  /// Takes a datagram that came to a relay's socket from a peer.
  public func receiveRelayed(
    _ bytes: UnsafeRawBufferPointer, from peer: TransportAddress, on relay: TransportAddress,
    at now: Instant
  ) {
    guard let allocation = relays[relay], allocation.expiresAt > now else {
      return statistics.unexpectedData += 1
    }
    guard let end = allocation.permissions[peer.ip], end > now else {
      return statistics.notPermitted += 1
    }
    guard bytes.count > 0, bytes.count <= 0xFFFF - TURNFrame.maximumOverhead else {
      return statistics.malformed += 1
    }
    statistics.datagramsToClients &+= 1
    statistics.bytesToClients &+= UInt64(bytes.count)
    let capacity = bytes.count + TURNFrame.maximumOverhead
    let number = allocation.numbers[peer].flatMap { number in
      (allocation.channels[number]?.expiresAt ?? now) > now ? number : nil
    }
    network.send(to: allocation.client, capacity: capacity) { slot in
      func copy(_ body: UnsafeMutableRawBufferPointer) -> Int {
        body.copyMemory(from: bytes)
        return bytes.count
      }
      if let number {
        return TURNFrame.writeChannelData(
          number, into: slot, pads: allocation.client.isStream, copy)
      }
      return TURNFrame.writeIndication(
        TURNFrame.dataIndication, peer: peer, id: STUNTransactionID(random: random), into: slot,
        copy)
    }
  }
}
