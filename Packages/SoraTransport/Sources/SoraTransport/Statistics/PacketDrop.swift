import SoraDTLS
public import SoraICE
import SoraRTP

/// How many packets were lost on this host for one reason: what arrived and wasn't used, and what was to leave and didn't.
public struct PacketDrop: Sendable, Hashable, CustomStringConvertible {
  /// Where, from the network upwards.
  public enum Layer: String, Sendable, CaseIterable {
    case socket
    /// What comes from STUN and TURN servers, and goes through them.
    case relay
    case ice
    case dtls
    /// Told apart by first byte, and SRTP.
    case transport
    /// Packets and reports of the session's streams.
    case rtp
    /// Packets of SCTP, and messages of data channels.
    case data
    case videoBuffer
    case audioBuffer
    /// Between the session and the codecs.
    case connection
  }

  public let layer: Layer
  /// As the layer's own counter is called.
  public let reason: String
  public let count: UInt64

  public init(_ layer: Layer, _ reason: String, _ count: UInt64) {
    self.layer = layer
    self.reason = reason
    self.count = count
  }

  /// `transport.replayed`
  public var name: String { "\(layer.rawValue).\(reason)" }

  public var description: String { "\(name) \(count)" }

  /// Those of a layer that occurred.
  public static func list(
    _ layer: Layer, _ counts: KeyValuePairs<String, some BinaryInteger>
  ) -> [PacketDrop] {
    counts.compactMap { reason, count in
      count > 0 ? PacketDrop(layer, reason, UInt64(clamping: count)) : nil
    }
  }
}

extension PeerTransport {
  /// What this transport lost, by reason, with ICE, DTLS and relays; those that occurred.
  public var drops: [PacketDrop] {
    var all = PacketDrop.list(.relay, gatherer.dropped.counts)
    for (reason, count) in ice.statistics.dropsByReason where reason.concernsDatagrams {
      all.append(PacketDrop(.ice, "\(reason)", UInt64(clamping: count)))
    }
    if let dtls = dtlsStatistics { all += PacketDrop.list(.dtls, dtls.dropped.counts) }
    return all + PacketDrop.list(.transport, statistics.dropped.counts)
  }
}

extension RTPSession {
  /// What this session lost, by reason, over streams that were and that are; those that occurred.
  public var drops: [PacketDrop] {
    PacketDrop.list(.rtp, dropped.counts)
      + PacketDrop.list(.videoBuffer, videoPacketsDiscarded.counts)
  }
}

extension UDPSocketSet {
  /// What these sockets lost, by reason; those that occurred.
  public var drops: [PacketDrop] {
    var sum = NetworkStatistics()
    for socket in sockets { sum += socket.statistics }
    return PacketDrop.list(.socket, sum.drops.counts)
      + PacketDrop.list(.socket, ["unknownLocalAddress": unknownLocalAddress])
  }

  public func packetsDiscarded(from local: TransportAddress) -> UInt64 {
    guard let drops = self[local]?.statistics.drops else { return 0 }
    return drops.total &- drops.truncated &- drops.receiveBufferFull
  }
}

// The counters by name. A test compares them with the properties there are.

extension NetworkStatistics.Drops {
  package var counts: KeyValuePairs<String, UInt64> {
    [
      "queueFull": queueFull, "tooLong": tooLong, "unreachable": unreachable,
      "notPermitted": notPermitted, "noMemory": noMemory, "closed": closed, "failed": failed,
      "truncated": truncated, "receiveBufferFull": receiveBufferFull,
    ]
  }
}

extension ICEGatherer.Dropped {
  package var counts: KeyValuePairs<String, Int> {
    [
      "malformed": malformed, "unauthentic": unauthentic, "unknownChannel": unknownChannel,
      "unexpected": unexpected, "unknownStream": unknownStream, "noAllocation": noAllocation,
    ]
  }
}

extension DTLSStatistics.Dropped {
  package var counts: KeyValuePairs<String, Int> {
    [
      "outOfTurn": outOfTurn, "malformed": malformed, "unauthenticated": unauthenticated,
      "replayed": replayed, "withoutKeys": withoutKeys, "unexpected": unexpected,
      "unusableFragments": unusableFragments,
    ]
  }
}

extension PeerTransportStatistics.Dropped {
  package var counts: KeyValuePairs<String, Int> {
    [
      "unknownProtocol": unknownProtocol, "unknownRelay": unknownRelay, "empty": empty,
      "unknownSource": unknownSource, "beforeKeys": beforeKeys, "malformed": malformed,
      "replayed": replayed, "tooOld": tooOld,
      "unauthenticated": unauthenticated, "tooManySources": tooManySources,
      "unprotectionFailed": unprotectionFailed, "applicationData": applicationData,
      "afterEnd": afterEnd, "notConnected": notConnected, "protectionFailed": protectionFailed,
      "relayRefused": relayRefused,
    ]
  }
}

extension RTPSession.Dropped {
  package var counts: KeyValuePairs<String, Int> {
    [
      "malformedRTP": malformedRTP, "malformedRTCP": malformedRTCP,
      "unknownSource": unknownSource, "tooManySources": tooManySources,
      "endedSource": endedSource, "unknownPayloadType": unknownPayloadType,
      "unusableRetransmission": unusableRetransmission, "emptySound": emptySound,
      "malformedTelephoneEvent": malformedTelephoneEvent,
      "unknownRTCP": unknownRTCP, "requestOfUnknownSource": requestOfUnknownSource,
      "pacerFull": pacerFull, "retransmissionBudget": retransmissionBudget, "overtaken": overtaken,
      "unsendable": unsendable,
    ]
  }
}

extension VideoJitterBufferStatistics.Discarded {
  package var counts: KeyValuePairs<String, UInt64> {
    [
      "duplicate": duplicate, "late": late, "malformed": malformed,
      "unknownFormat": unknownFormat, "overflow": overflow, "jump": jump,
    ]
  }
}
