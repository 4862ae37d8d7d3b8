public import SoraSDP

/// A codec with the payload types of one direction.
public struct NegotiatedCodec: Sendable, Hashable {
  public var name: String
  /// Hz.
  public var clockRate: Int
  public var channels: Int?
  public var payloadType: UInt8
  /// nil where lost packets are not retransmitted.
  public var rtxPayloadType: UInt8?
  /// What the receiver of this direction asked for, and what the sender says of its stream (`sprop-...`).
  public var parameters: FormatParameters
  /// Feedback that both sides agreed on.
  public var feedback: FeedbackKinds
}
