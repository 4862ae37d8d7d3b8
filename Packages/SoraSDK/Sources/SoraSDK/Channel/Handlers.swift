public import Foundation

/// Handlers of a `Sora` object. They run where the event happens; see each.
public final class SoraHandlers: @unchecked Sendable {
  // @unchecked: every stored property is a `Locked`, which guards its value and is never replaced.

  /// An attempt ended. On the channel's queue, after the handler given to `connect`.
  @Locked public var onConnect: (@Sendable (MediaChannel?, (any Error)?) -> Void)?
  /// A channel ended, after it left `mediaChannels`.
  @Locked public var onDisconnect: (@Sendable (MediaChannel, (any Error)?) -> Void)?
  /// Inside `connect`, before it returns.
  @Locked public var onAddMediaChannel: (@Sendable (MediaChannel) -> Void)?
  /// Just before `onDisconnect`.
  @Locked public var onRemoveMediaChannel: (@Sendable (MediaChannel) -> Void)?

  public init() {}
}

/// Handlers of a channel. All run on the channel's own serial queue, so none runs beside another.
public final class MediaChannelHandlers: @unchecked Sendable {
  // @unchecked: every stored property is a `Locked`, which guards its value and is never replaced.

  /// The attempt ended: nil on success.
  @Locked public var onConnect: (@Sendable ((any Error)?) -> Void)?
  /// The channel ended: nil when it ended as it should.
  @Locked public var onDisconnect: (@Sendable ((any Error)?) -> Void)?
  /// The local stream, and each remote one.
  @Locked public var onAddStream: (@Sendable (any MediaStream) -> Void)?
  /// A remote stream was withdrawn. Not called when the channel ends.
  @Locked public var onRemoveStream: (@Sendable (any MediaStream) -> Void)?
  /// Every message that could be decoded, after the SDK acted on it.
  @Locked public var onReceiveSignaling: (@Sendable (Signaling) -> Void)?
  /// Data channels can be used from here on.
  @Locked public var onDataChannel: (@Sendable (MediaChannel) -> Void)?
  /// A message of a data channel: channel, label, data.
  @Locked public var onDataChannelMessage: (@Sendable (MediaChannel, String, Data) -> Void)?

  public init() {}
}

/// Handlers of a stream. On the thread that made the change.
public final class MediaStreamHandlers: @unchecked Sendable {
  // @unchecked: every stored property is a `Locked`, which guards its value and is never replaced.

  @Locked public var onSwitchVideo: (@Sendable (_ isEnabled: Bool) -> Void)?
  @Locked public var onSwitchAudio: (@Sendable (_ isEnabled: Bool) -> Void)?

  public init() {}
}
