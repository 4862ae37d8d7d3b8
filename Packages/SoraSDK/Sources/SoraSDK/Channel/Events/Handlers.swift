public import Foundation

/// Handlers of a `Sora` object. They run where those of a channel do (`MediaChannelHandlers`), in order with them; `onAddMediaChannel`
/// alone runs inside `connect`.
public final class SoraHandlers: Sendable {
  private struct Values: Sendable {
    var onConnect: Handler<@isolated(any) (MediaChannel?, (any Error)?) -> Void>?
    var onDisconnect: Handler<@isolated(any) (MediaChannel, (any Error)?) -> Void>?
    var onAddMediaChannel: Handler<(MediaChannel) -> Void>?
    var onRemoveMediaChannel: Handler<@isolated(any) (MediaChannel) -> Void>?
  }

  private let values = Locked(Values())

  /// An attempt ended. On the channel's queue, after the handler given to `connect`.
  public var onConnect: (@isolated(any) (MediaChannel?, (any Error)?) -> Void)? {
    get { values.onConnect?.call }
    set { values.onConnect = Handler(newValue) }
  }
  /// A channel ended, after it left `mediaChannels`.
  public var onDisconnect: (@isolated(any) (MediaChannel, (any Error)?) -> Void)? {
    get { values.onDisconnect?.call }
    set { values.onDisconnect = Handler(newValue) }
  }
  /// Inside `connect`, before it returns: on the thread that calls it, which an app that keeps its state on the main actor does there.
  public var onAddMediaChannel: ((MediaChannel) -> Void)? {
    get { values.onAddMediaChannel?.call }
    set { values.onAddMediaChannel = Handler(newValue) }
  }
  /// Just before `onDisconnect`.
  public var onRemoveMediaChannel: (@isolated(any) (MediaChannel) -> Void)? {
    get { values.onRemoveMediaChannel?.call }
    set { values.onRemoveMediaChannel = Handler(newValue) }
  }

  public init() {}
}

/// Handlers of a channel. They run in the order of what happened, and none beside another.
///
/// Each runs where the compiler says that it belongs: one that is written in a class or a function of the main actor runs there, and may
/// change that class's properties, in Swift 5 and in Swift 6 alike; all others run on the channel's own serial queue. In Swift 6 the main
/// actor's is also what stands at the top level of `main.swift`. A program that blocks its main thread (`semaphore.wait()`) is
/// never told there; it writes `{ @Sendable error in ... }`, which belongs to no actor. What such a one touches, it shares with the
/// channel's queue; the compiler doesn't check that.
public final class MediaChannelHandlers: Sendable {
  private struct Values: Sendable {
    var onConnect: Handler<@isolated(any) ((any Error)?) -> Void>?
    var onDisconnect: Handler<@isolated(any) ((any Error)?) -> Void>?
    var onAddStream: Handler<@isolated(any) (any MediaStream) -> Void>?
    var onRemoveStream: Handler<@isolated(any) (any MediaStream) -> Void>?
    var onReceiveSignaling: Handler<@isolated(any) (Signaling) -> Void>?
    var onDataChannel: Handler<@isolated(any) (MediaChannel) -> Void>?
    var onDataChannelMessage: Handler<@isolated(any) (MediaChannel, String, Data) -> Void>?
  }

  private let values = Locked(Values())

  /// The attempt ended: nil on success.
  public var onConnect: (@isolated(any) ((any Error)?) -> Void)? {
    get { values.onConnect?.call }
    set { values.onConnect = Handler(newValue) }
  }
  /// The channel ended: nil when it ended as it should.
  public var onDisconnect: (@isolated(any) ((any Error)?) -> Void)? {
    get { values.onDisconnect?.call }
    set { values.onDisconnect = Handler(newValue) }
  }
  /// The local stream, and each remote one.
  public var onAddStream: (@isolated(any) (any MediaStream) -> Void)? {
    get { values.onAddStream?.call }
    set { values.onAddStream = Handler(newValue) }
  }
  /// A remote stream was withdrawn. Not called when the channel ends.
  public var onRemoveStream: (@isolated(any) (any MediaStream) -> Void)? {
    get { values.onRemoveStream?.call }
    set { values.onRemoveStream = Handler(newValue) }
  }
  /// Every message that could be decoded, after the SDK acted on it.
  public var onReceiveSignaling: (@isolated(any) (Signaling) -> Void)? {
    get { values.onReceiveSignaling?.call }
    set { values.onReceiveSignaling = Handler(newValue) }
  }
  /// Data channels can be used from here on: the server has switched to them. Once.
  public var onDataChannel: (@isolated(any) (MediaChannel) -> Void)? {
    get { values.onDataChannel?.call }
    set { values.onDataChannel = Handler(newValue) }
  }
  /// A message of any data channel, those of signaling included, decompressed: channel, label, data. Where the app has asked for the
  /// sender's id, the data begin with it (26 bytes), as on iOS; `MediaChannel.messages(label:)` has both apart.
  public var onDataChannelMessage: (@isolated(any) (MediaChannel, String, Data) -> Void)? {
    get { values.onDataChannelMessage?.call }
    set { values.onDataChannelMessage = Handler(newValue) }
  }

  public init() {}
}

/// Handlers of a stream. On the thread that made the change, which is the app's own.
public final class MediaStreamHandlers: Sendable {
  private struct Values: Sendable {
    var onSwitchVideo: Handler<(_ isEnabled: Bool) -> Void>?
    var onSwitchAudio: Handler<(_ isEnabled: Bool) -> Void>?
  }

  private let values = Locked(Values())

  public var onSwitchVideo: ((_ isEnabled: Bool) -> Void)? {
    get { values.onSwitchVideo?.call }
    set { values.onSwitchVideo = Handler(newValue) }
  }
  public var onSwitchAudio: ((_ isEnabled: Bool) -> Void)? {
    get { values.onSwitchAudio?.call }
    set { values.onSwitchAudio = Handler(newValue) }
  }

  public init() {}
}
