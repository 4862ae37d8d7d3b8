import SoraTransport

/// Which streams of the RTP session are which transceiver's.
struct TransceiverStreams {
  /// What a stream sends.
  struct Encoding: Hashable {
    var transceiverID: Int
    /// nil where the transceiver has one encoding only.
    var rid: String?
  }

  private var sent: [Encoding: RTPSendStream] = [:]
  private var receivers: [String: Int] = [:]

  // MARK: Sent

  /// The stream of an encoding.
  subscript(encoding: Encoding) -> RTPSendStream? { sent[encoding] }

  /// Those of a transceiver, one an encoding.
  func sent(transceiverID: Int) -> [RTPSendStream] {
    sent.filter { $0.key.transceiverID == transceiverID }
      .sorted { ($0.key.rid ?? "") < ($1.key.rid ?? "") }.map(\.value)
  }

  /// What a stream sends; nil where it isn't sent any more.
  func encoding(of stream: RTPSendStream) -> Encoding? {
    sent.first { $0.value === stream }?.key
  }

  mutating func add(_ stream: RTPSendStream, for encoding: Encoding) { sent[encoding] = stream }
  mutating func remove(_ encoding: Encoding) { sent[encoding] = nil }
  mutating func removeSent() { sent = [:] }

  // MARK: Received

  /// The transceiver that receives what comes for a section.
  func receiver(mid: String) -> Int? { receivers[mid] }

  /// Takes the sections in use.
  mutating func setReceivers(_ media: [NegotiatedMedia]) {
    receivers = [:]
    for section in media where section.receive != nil {
      receivers[section.mid] = section.transceiverID
    }
  }
}
