public import Foundation
import SoraSignaling

/// One message of Sora's signaling.
///
/// Messages of a client can be encoded and messages of a server decoded; the other direction throws
/// `SoraError.invalidSignalingMessage`, or for an unknown type `SoraError.unknownSignalingMessageType`.
public enum Signaling: Codable, Sendable {
  case connect(SignalingConnect)
  case offer(SignalingOffer)
  case answer(SignalingAnswer)
  case update(SignalingUpdate)
  case reOffer(SignalingReOffer)
  case reAnswer(SignalingReAnswer)
  case candidate(SignalingCandidate)
  case notify(SignalingNotify)
  case ping(SignalingPing)
  case pong(SignalingPong)
  case disconnect(SignalingDisconnect)
  case push(SignalingPush)
  case switched(SignalingSwitched)
  case redirect(SignalingRedirect)
  /// Over a data channel alone.
  case close(SignalingClose)

  /// Reads a message of a server from its JSON text, free-form values included.
  ///
  /// A failure is a `SoraError` for a wrong type, and otherwise an error that names the key at fault.
  public static func decode(_ data: Data) -> Result<Signaling, any Error> {
    Result {
      guard let message = Signaling(received: try SignalingMessage(parsing: Array(data))) else {
        throw SoraError.unknownSignalingMessageType(type: typeName(of: data))
      }
      return message
    }
  }

  private static func typeName(of data: Data) -> String {
    (try? JSONValue(parsing: Array(data)))?["type"]?.stringValue ?? ""
  }

  /// The text of the key `type`, such as `re-offer`.
  public func typeName() -> String {
    switch self {
    case .connect: "connect"
    case .offer: "offer"
    case .answer: "answer"
    case .update: "update"
    case .reOffer: "re-offer"
    case .reAnswer: "re-answer"
    case .candidate: "candidate"
    case .notify: "notify"
    case .ping: "ping"
    case .pong: "pong"
    case .disconnect: "disconnect"
    case .push: "push"
    case .switched: "switched"
    case .redirect: "redirect"
    case .close: "close"
    }
  }

  public init(from decoder: any Decoder) throws {
    let message = try SignalingMessage(json: JSONValue(from: decoder))
    guard let signaling = Signaling(received: message) else {
      throw SoraError.unknownSignalingMessageType(type: message.typeName)
    }
    self = signaling
  }

  public func encode(to encoder: any Encoder) throws {
    guard let message = sent else { throw SoraError.invalidSignalingMessage }
    try message.json.encode(to: encoder)
  }

  /// What a server sends; nil for the other direction and for types that iOS doesn't know.
  init?(received message: SignalingMessage) {
    switch message {
    case .offer(let message): self = .offer(SignalingOffer(message))
    case .update(let message): self = .update(SignalingUpdate(sdp: message.sdp))
    case .notify(let message): self = .notify(SignalingNotify(message))
    case .ping(let message): self = .ping(SignalingPing(message))
    case .push(let message): self = .push(SignalingPush(message))
    case .reOffer(let message): self = .reOffer(SignalingReOffer(sdp: message.sdp))
    case .switched(let message): self = .switched(SignalingSwitched(message))
    case .redirect(let message): self = .redirect(SignalingRedirect(message))
    case .close(let message): self = .close(SignalingClose(message))
    default: return nil
    }
  }

  /// What a client sends; nil for the other direction.
  private var sent: SignalingMessage? {
    switch self {
    case .connect(let message): .connect(message.message)
    case .answer(let message): .answer(AnswerMessage(sdp: message.sdp))
    case .candidate(let message): .candidate(CandidateMessage(candidate: message.candidate.sdp))
    case .update(let message): .update(UpdateMessage(sdp: message.sdp))
    case .reAnswer(let message): .reAnswer(ReAnswerMessage(sdp: message.sdp))
    case .pong: .pong(PongMessage())
    case .disconnect(let message): .disconnect(DisconnectMessage(reason: message.reason))
    case .offer, .notify, .ping, .push, .reOffer, .switched, .redirect, .close: nil
    }
  }
}
