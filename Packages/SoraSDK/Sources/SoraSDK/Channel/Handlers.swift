public import Foundation

/// Handlers of a `Sora` object. They run where the event happens; see each.
public final class SoraHandlers: Sendable {
  private struct Values: Sendable {
    var onConnect: (@Sendable (MediaChannel?, (any Error)?) -> Void)?
    var onDisconnect: (@Sendable (MediaChannel, (any Error)?) -> Void)?
    var onAddMediaChannel: (@Sendable (MediaChannel) -> Void)?
    var onRemoveMediaChannel: (@Sendable (MediaChannel) -> Void)?
  }

  private let values = Locked(Values())

  /// An attempt ended. On the channel's queue, after the handler given to `connect`.
  public var onConnect: (@Sendable (MediaChannel?, (any Error)?) -> Void)? {
    get { values.onConnect }
    set { values.onConnect = newValue }
  }
  /// A channel ended, after it left `mediaChannels`.
  public var onDisconnect: (@Sendable (MediaChannel, (any Error)?) -> Void)? {
    get { values.onDisconnect }
    set { values.onDisconnect = newValue }
  }
  /// Inside `connect`, before it returns.
  public var onAddMediaChannel: (@Sendable (MediaChannel) -> Void)? {
    get { values.onAddMediaChannel }
    set { values.onAddMediaChannel = newValue }
  }
  /// Just before `onDisconnect`.
  public var onRemoveMediaChannel: (@Sendable (MediaChannel) -> Void)? {
    get { values.onRemoveMediaChannel }
    set { values.onRemoveMediaChannel = newValue }
  }

  public init() {}
}

/// Handlers of a channel. All run on the channel's own serial queue, so none runs beside another.
public final class MediaChannelHandlers: Sendable {
  private struct Values: Sendable {
    var onConnect: (@Sendable ((any Error)?) -> Void)?
    var onDisconnect: (@Sendable ((any Error)?) -> Void)?
    var onAddStream: (@Sendable (any MediaStream) -> Void)?
    var onRemoveStream: (@Sendable (any MediaStream) -> Void)?
    var onReceiveSignaling: (@Sendable (Signaling) -> Void)?
    var onDataChannel: (@Sendable (MediaChannel) -> Void)?
    var onDataChannelMessage: (@Sendable (MediaChannel, String, Data) -> Void)?
  }

  private let values = Locked(Values())

  /// The attempt ended: nil on success.
  public var onConnect: (@Sendable ((any Error)?) -> Void)? {
    get { values.onConnect }
    set { values.onConnect = newValue }
  }
  /// The channel ended: nil when it ended as it should.
  public var onDisconnect: (@Sendable ((any Error)?) -> Void)? {
    get { values.onDisconnect }
    set { values.onDisconnect = newValue }
  }
  /// The local stream, and each remote one.
  public var onAddStream: (@Sendable (any MediaStream) -> Void)? {
    get { values.onAddStream }
    set { values.onAddStream = newValue }
  }
  /// A remote stream was withdrawn. Not called when the channel ends.
  public var onRemoveStream: (@Sendable (any MediaStream) -> Void)? {
    get { values.onRemoveStream }
    set { values.onRemoveStream = newValue }
  }
  /// Every message that could be decoded, after the SDK acted on it.
  public var onReceiveSignaling: (@Sendable (Signaling) -> Void)? {
    get { values.onReceiveSignaling }
    set { values.onReceiveSignaling = newValue }
  }
  /// Data channels can be used from here on: the server has switched to them. Once.
  public var onDataChannel: (@Sendable (MediaChannel) -> Void)? {
    get { values.onDataChannel }
    set { values.onDataChannel = newValue }
  }
  /// A message of any data channel, those of signaling included, decompressed: channel, label, data. Where the app has asked for the
  /// sender's id, the data begin with it (26 bytes), as on iOS; `MediaChannel.messages(label:)` has both apart.
  public var onDataChannelMessage: (@Sendable (MediaChannel, String, Data) -> Void)? {
    get { values.onDataChannelMessage }
    set { values.onDataChannelMessage = newValue }
  }

  public init() {}
}

/// Handlers of a stream. On the thread that made the change.
public final class MediaStreamHandlers: Sendable {
  private struct Values: Sendable {
    var onSwitchVideo: (@Sendable (_ isEnabled: Bool) -> Void)?
    var onSwitchAudio: (@Sendable (_ isEnabled: Bool) -> Void)?
  }

  private let values = Locked(Values())

  public var onSwitchVideo: (@Sendable (_ isEnabled: Bool) -> Void)? {
    get { values.onSwitchVideo }
    set { values.onSwitchVideo = newValue }
  }
  public var onSwitchAudio: (@Sendable (_ isEnabled: Bool) -> Void)? {
    get { values.onSwitchAudio }
    set { values.onSwitchAudio = newValue }
  }

  public init() {}
}
