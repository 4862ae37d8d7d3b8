public import Foundation
public import SoraCongestion
import SoraICE
import SoraTransport

/// The path of all media (W3C `RTCTransportStats`).
public struct RTCTransportStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var packetsSent: Int { statistics.count("packetsSent") }
  public var packetsReceived: Int { statistics.count("packetsReceived") }
  public var bytesSent: Int { statistics.count("bytesSent") }
  public var bytesReceived: Int { statistics.count("bytesReceived") }
  public var iceState: RTCIceConnectionState {
    RTCIceConnectionState(statistics.word("iceState") ?? ICEConnectionState.new)
  }
  /// `controlling` or `controlled`.
  public var iceRole: String { statistics.text("iceRole") ?? "unknown" }
  public var iceLocalUsernameFragment: String? { statistics.text("iceLocalUsernameFragment") }
  /// Which of the report's `candidatePairs`; nil before one is selected.
  public var selectedCandidatePairId: String? { statistics.text("selectedCandidatePairId") }
  public var selectedCandidatePairChanges: Int { statistics.count("selectedCandidatePairChanges") }
  public var dtlsState: RTCDtlsTransportState {
    RTCDtlsTransportState(statistics.word("dtlsState") ?? DTLSTransportState.new)
  }
  /// `client`, `server` or `unknown`.
  public var dtlsRole: String { statistics.text("dtlsRole") ?? "unknown" }
  /// Four hexadecimal digits: `FEFC` for DTLS 1.3, `FEFD` for 1.2.
  public var tlsVersion: String? { statistics.text("tlsVersion") }
  public var dtlsCipher: String? { statistics.text("dtlsCipher") }
  public var srtpCipher: String? { statistics.text("srtpCipher") }
  public var localCertificateId: String? { statistics.text("localCertificateId") }
  public var remoteCertificateId: String? { statistics.text("remoteCertificateId") }

  // MARK: Not of W3C

  /// What was lost on this host; `packetDrops` of the report says where and why.
  public var packetsDropped: Int { statistics.count("packetsDropped") }
  /// How long each phase of connecting took, by its name.
  public var connectDurations: [String: Duration] { statistics.durations("connectDurations") }
  public var dtlsHandshakeDuration: Duration? { statistics.duration("dtlsHandshakeDuration") }
  public var dtlsRetransmissions: Int { statistics.count("dtlsRetransmissions") }
  public var dtlsRecordsDropped: Int { statistics.count("dtlsRecordsDropped") }

  /// The rate of all packets sent between an earlier report and this, without IP and UDP headers.
  public func bitrateSent(since earlier: RTCTransportStats) -> Bitrate? {
    statistics.bitrate("bytesSent", since: earlier.statistics)
  }

  /// The rate of all packets received between an earlier report and this, without IP and UDP headers.
  public func bitrateReceived(since earlier: RTCTransportStats) -> Bitrate? {
    statistics.bitrate("bytesReceived", since: earlier.statistics)
  }
}

/// What became of a pair of addresses (W3C `RTCStatsIceCandidatePairState`, RFC 8445 §6.1.2.6).
public enum RTCStatsIceCandidatePairState: String, Sendable {
  /// Not to be checked unless the peer does.
  case frozen
  case waiting
  case inProgress = "in-progress"
  case failed
  case succeeded
}

/// A pair of addresses (W3C `RTCIceCandidatePairStats`).
public struct RTCIceCandidatePairStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  /// Which of the report's `localCandidates`.
  public var localCandidateId: String { statistics.text("localCandidateId") ?? "" }
  /// Which of the report's `remoteCandidates`.
  public var remoteCandidateId: String { statistics.text("remoteCandidateId") ?? "" }
  public var state: RTCStatsIceCandidatePairState { statistics.word("state") ?? .waiting }
  public var nominated: Bool { statistics.flag("nominated") ?? false }
  public var packetsSent: Int { statistics.count("packetsSent") }
  public var packetsReceived: Int { statistics.count("packetsReceived") }
  public var bytesSent: Int { statistics.count("bytesSent") }
  public var bytesReceived: Int { statistics.count("bytesReceived") }
  public var packetsDiscardedOnSend: Int { statistics.count("packetsDiscardedOnSend") }
  public var lastPacketSentTimestamp: Date? { statistics.date("lastPacketSentTimestamp") }
  public var lastPacketReceivedTimestamp: Date? { statistics.date("lastPacketReceivedTimestamp") }
  /// Sum of the round trips of all checks that were answered.
  public var totalRoundTripTime: Duration { statistics.duration("totalRoundTripTime") ?? .zero }
  /// Of the last check that was answered.
  public var currentRoundTripTime: Duration? { statistics.duration("currentRoundTripTime") }
  /// What the network takes, as far as it was tried; of the selected pair alone.
  public var availableOutgoingBitrate: Bitrate? { statistics.bitrate("availableOutgoingBitrate") }
  public var requestsSent: Int { statistics.count("requestsSent") }
  public var requestsReceived: Int { statistics.count("requestsReceived") }
  public var responsesSent: Int { statistics.count("responsesSent") }
  public var responsesReceived: Int { statistics.count("responsesReceived") }
  public var consentRequestsSent: Int { statistics.count("consentRequestsSent") }
}

/// An address of one side (W3C `RTCIceCandidateStats`).
public struct RTCIceCandidateStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  /// An IP address, or the name of one.
  public var address: String { statistics.text("address") ?? "" }
  public var port: Int { statistics.count("port") }
  /// `udp` or `tcp`; of a relayed candidate `relayProtocol` says how the server is reached.
  public var `protocol`: String { statistics.text("protocol") ?? "" }
  /// `host`, `srflx`, `prflx` or `relay`.
  public var candidateType: String { statistics.text("candidateType") ?? "" }
  public var priority: Int { statistics.count("priority") }
  public var foundation: String { statistics.text("foundation") ?? "" }
  public var usernameFragment: String? { statistics.text("usernameFragment") }
  public var relatedAddress: String? { statistics.text("relatedAddress") }
  public var relatedPort: Int? { statistics.integer("relatedPort") }
  public var tcpType: String? { statistics.text("tcpType") }
  /// The STUN or TURN server that gave it.
  public var url: String? { statistics.text("url") }
  public var relayProtocol: String? { statistics.text("relayProtocol") }
}

/// A side's certificate (W3C `RTCCertificateStats`).
public struct RTCCertificateStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  /// Hexadecimal digits with colons.
  public var fingerprint: String { statistics.text("fingerprint") ?? "" }
  /// Such as `sha-256`.
  public var fingerprintAlgorithm: String { statistics.text("fingerprintAlgorithm") ?? "" }
  /// DER.
  public var base64Certificate: String { statistics.text("base64Certificate") ?? "" }
}
