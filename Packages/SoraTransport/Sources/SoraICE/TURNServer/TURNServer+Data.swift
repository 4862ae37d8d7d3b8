public import SoraMedia
public import SoraWire

extension TURNServer {
  func receiveChannelData(
    _ bytes: RawSpan, from client: Client, at now: Instant
  ) {
    let count = Int(bytes.u16(2))
    guard count <= bytes.byteCount - 4 else { return statistics.malformed += 1 }
    guard let allocation = allocations[client], allocation.expiresAt > now,
      let channel = allocation.channels[bytes.u16(0)], channel.expiresAt > now
    else { return statistics.unexpectedData += 1 }
    relay(bytes.part(4, count), to: channel.peer, allocation, at: now)
  }

  func receiveIndication(_ bytes: RawSpan, from client: Client, at now: Instant) {
    guard let (peer, payload) = TURNFrame.readIndication(bytes) else {
      return statistics.malformed += 1
    }
    guard let allocation = allocations[client], allocation.expiresAt > now else {
      return statistics.unexpectedData += 1
    }
    relay(bytes.extracting(payload), to: peer, allocation, at: now)
  }

  private func relay(
    _ payload: RawSpan, to peer: TransportAddress, _ allocation: Allocation,
    at now: Instant
  ) {
    // RFC 8656 §11.2: the permission decides, for channels too.
    guard let end = allocation.permissions[peer.ip], end > now else {
      return statistics.notPermitted += 1
    }
    statistics.datagramsToPeers &+= 1
    statistics.bytesToPeers &+= UInt64(payload.byteCount)
    network.sendRelayed(from: allocation.relay, to: peer, capacity: payload.byteCount) { slot in
      slot.put(payload, at: 0)
      return payload.byteCount
    }
  }

  /// Takes a datagram that came to a relay's socket from a peer.
  public func receiveRelayed(
    _ bytes: RawSpan, from peer: TransportAddress, on relay: TransportAddress,
    at now: Instant
  ) {
    guard let allocation = relays[relay], allocation.expiresAt > now else {
      return statistics.unexpectedData += 1
    }
    guard let end = allocation.permissions[peer.ip], end > now else {
      return statistics.notPermitted += 1
    }
    guard bytes.byteCount > 0, bytes.byteCount <= 0xFFFF - TURNFrame.maximumOverhead else {
      return statistics.malformed += 1
    }
    statistics.datagramsToClients &+= 1
    statistics.bytesToClients &+= UInt64(bytes.byteCount)
    let capacity = bytes.byteCount + TURNFrame.maximumOverhead
    let number = allocation.numbers[peer].flatMap { number in
      (allocation.channels[number]?.expiresAt ?? now) > now ? number : nil
    }
    network.send(to: allocation.client, capacity: capacity) { slot in
      if let number {
        return TURNFrame.writeChannelData(number, into: &slot, pads: allocation.client.isStream) {
          $0.put(bytes, at: 0)
          return bytes.byteCount
        }
      }
      return TURNFrame.writeIndication(
        TURNFrame.dataIndication, peer: peer, id: STUNTransactionID(random: random), into: &slot
      ) {
        $0.put(bytes, at: 0)
        return bytes.byteCount
      }
    }
  }
}
