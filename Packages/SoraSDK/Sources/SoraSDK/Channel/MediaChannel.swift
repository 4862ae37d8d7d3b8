public import Foundation
import SoraSignaling
public import SoraTransport
import Synchronization
public import WebRTC

/// One connection to a channel of a Sora. Made by `Sora.connect`; connecting again means a new one.
///
/// Everything may be called from any thread. Handlers run on their actor or on a serial queue of the channel's own
/// (`MediaChannelHandlers`), in the order in which things happened and never two at once; a handler that blocks delays the handlers
/// after it and nothing else.
public final class MediaChannel: CustomStringConvertible, Equatable, Sendable {
  typealias Phase = ChannelProgress.Phase
  /// The handler of `connect`.
  typealias Completion = Handler<@isolated(any) (MediaChannel?, (any Error)?) -> Void>

  /// What the server calls the connection.
  struct Names: Sendable {
    var clientID: String?
    var bundleID: String?
    var connectionID: String?
  }

  /// Connections of the channel.
  struct Counts: Sendable {
    var all: Int?
    var publishers: Int?
    var subscribers: Int?
  }

  struct State: Sendable {
    var progress = ChannelProgress()
    var names = Names()
    var counts = Counts()
    var ignored = IgnoredParts()
    var streams: [BasicMediaStream] = []
    /// What each of the others' streams is given to.
    var streamSinks: [StreamSinks] = []

    // The attempt and its machinery.
    var completion: Completion?
    var task: ConnectionTask?
    /// Ends an attempt that takes too long.
    var patience: HeldTimer?
    var client: SignalingClient?
    var route = SignalingRoute()
    var certificate: RTCCertificate?
    var peer: RTCPeerConnection?
    var peerEvents: PeerEvents?
    /// Of the offer; they are in force for later offers too.
    var encodings: [SignalingOffer.Encoding] = []

    var phase: Phase { progress.phase }
  }

  /// Told what happens. At first `Configuration.mediaChannelHandlers`.
  public var handlers: MediaChannelHandlers {
    get { handlerBox.value }
    set { handlerBox.value = newValue }
  }
  private let handlerBox: Locked<MediaChannelHandlers>
  /// What the channel was connected with.
  public let configuration: Configuration

  let sora: Sora
  let storage = Mutex(State())
  let hub = MediaChannelEventHub()
  let dataChannels = DataChannels()
  let calls = RPCCalls()
  /// Where handlers run.
  let queue = HandlerQueue()
  /// What the channel's task works on, one after the other.
  let inputs: AsyncStream<Input>
  let input: AsyncStream<Input>.Continuation

  init(sora: Sora, configuration: Configuration) {
    self.sora = sora
    self.configuration = configuration
    handlerBox = Locked(configuration.mediaChannelHandlers)
    (inputs, input) = AsyncStream.makeStream(of: Input.self)
  }

  private func read<Value: Sendable>(_ path: (State) -> Value) -> Value {
    storage.withLock { path($0) }
  }

  // MARK: Who and where

  /// The URL on which `connect` was sent first; nil before and after the connection.
  public var contactUrl: URL? { read { $0.progress.contactURL } }
  /// The URL that the offer came from: another one after a redirect. nil before and after the connection.
  public var connectedUrl: URL? { read { $0.progress.connectedURL } }
  /// The peer connection; nil before the offer and after the end.
  public var native: RTCPeerConnection? { read { $0.peer } }
  /// The ids that the server gave or confirmed; nil before its offer.
  public var clientId: String? { read { $0.names.clientID } }
  public var bundleId: String? { read { $0.names.bundleID } }
  public var connectionId: String? { read { $0.names.connectionID } }

  // MARK: State

  /// Where the channel stands.
  public var state: ConnectionState { read { $0.progress.connection } }
  /// Whether the channel is connected.
  public var isAvailable: Bool { read { $0.phase } == .connected }
  /// When the attempt started.
  public var connectionStartTime: Date? { read { $0.progress.startTime } }
  /// Whole seconds since the attempt started.
  public var connectionTime: Int? {
    connectionStartTime.map { Int(Date().timeIntervalSince($0)) }
  }
  /// How far the attempt has come, or came. Linux only.
  public var connectStage: ConnectStage { read { $0.progress.stage } }
  /// Why the channel failed, in one line: the stage, what happened and what to do. nil while it hasn't. Linux only.
  public var failureReason: String? { read { $0.progress.failureReason } }
  /// How the channel ended, with the server's code and reason where it ended it; nil before. Linux only: of the iOS SDK 2025.2 it is the
  /// argument of `onDisconnect`.
  public var closeEvent: SoraCloseEvent? { read { $0.progress.closeEvent } }

  /// Connections of the channel, as the last event said that had all counters.
  public var connectionCount: Int? { read { $0.counts.all } }
  /// Connections of the channel that send.
  public var publisherCount: Int? { read { $0.counts.publishers } }
  /// Connections of the channel that receive.
  public var subscriberCount: Int? { read { $0.counts.subscribers } }

  // MARK: Streams

  /// The local stream of a role that sends, and what the others send.
  public var streams: [any MediaStream] { read { $0.streams } }
  /// The first of `streams`.
  public var mainStream: (any MediaStream)? { streams.first }
  /// The local stream.
  public var senderStream: (any MediaStream)? {
    streams.first { $0.streamId == configuration.publisherStreamId }
  }
  /// What the others send.
  public var receiverStreams: [any MediaStream] {
    streams.filter { $0.streamId != configuration.publisherStreamId }
  }

  // MARK: Events, data, statistics

  /// What happens, up to `disconnected`. Every call makes a stream of its own.
  ///
  /// Who comes late gets first what leads to where the channel stands: `connected` and a `streamAdded` for each stream that is
  /// there, in the order in which they happened. So nothing is missed by subscribing after `connect` has returned; the first
  /// subscriber also gets the messages from before it came (the last 256). A channel that has ended gives `disconnected` alone. Events
  /// wait without limit for a subscriber that doesn't read.
  public var events: AsyncStream<MediaChannelEvent> { hub.subscribe() }

  /// What the connection measures now (W3C webrtc-stats); without entries where there is no connection.
  public func statistics() async -> Statistics {
    guard let peer = native else { return Statistics() }
    return Statistics(await peer.statistics())
  }

  /// The same for a handler. Of the iOS SDK 2026.1.
  ///
  /// - Parameter handler: gets what the connection measures, or `SoraError.peerChannelError` where there is no connection; once, where the
  ///   channel's handlers run.
  public func getStats(handler: @escaping @isolated(any) (Result<Statistics, any Error>) -> Void) {
    let (peer, handler) = (native, Handler(handler))
    Task { [queue] in
      let result: Result<Statistics, any Error> =
        if let peer {
          .success(Statistics(await peer.statistics()))
        } else {
          .failure(SoraError.peerChannelError(reason: "there is no connection; connect first"))
        }
      queue.enqueue { await handler.call(result) }
    }
  }

  /// What may be sent, and why it isn't more, with each change, until the channel ends: `RTCPeerConnection.sendBandwidth`. Ends at once
  /// where there is no connection. Linux only.
  public var sendBandwidth: AsyncStream<RTCSendBandwidth> {
    native?.sendBandwidth ?? AsyncStream { $0.finish() }
  }

  /// How the video is encoded that this connection sends, one element a simulcast layer, lowest first: at first as the server's offer says.
  /// Setting it takes effect with the next frame: rates, sizes, frame rates, scalability modes, layers on and off. The names (`rid`) and their
  /// count are the server's; what doesn't have them is left as it is. Empty where no video is sent. Why a layer is off is in `sendBandwidth`
  /// (`RTCSendBandwidth.Layer.off`). Linux only.
  public var videoEncodings: [RTCRtpEncodingParameters] {
    get { videoSender?.parameters.encodings ?? [] }
    set {
      guard let sender = videoSender else { return }
      var parameters = sender.parameters
      parameters.encodings = parameters.encodings.map { old in
        newValue.first { $0.rid == old.rid } ?? old
      }
      if parameters.encodings != sender.parameters.encodings { sender.parameters = parameters }
    }
  }

  private var videoSender: RTCRtpSender? {
    native?.senders.first { $0.track is RTCVideoTrack }
  }

  /// When the attempt came to which point, from `connect` to the first packet, and how long each phase took. What the peer
  /// connection knows of it goes with the end of the channel. Linux only.
  public func connectionTimeline() async -> ConnectionTimeline {
    let (own, peer) = read { ($0.progress.timeline, $0.peer) }
    guard var timeline = await peer?.timeline() else { return own }
    timeline.started = own.started
    timeline.webSocketOpened = own.webSocketOpened
    timeline.offerReceived = own.offerReceived
    return timeline
  }

  // MARK: The end

  /// Ends the channel: tells the server, gives it up to a second to close, then closes. Where signaling goes over data channels, what was
  /// sent there leaves first, within five seconds, and the server has three to close them. Returns at once.
  ///
  /// - Parameter error: handed to `onDisconnect` as it is. Where the channel is still being connected, the handler of
  ///   `connect` gets it too, or `SoraError.connectionCancelled` in place of nil.
  public func disconnect(error: (any Error)?) { leave(error) }

  /// Ends the channel and waits until it has ended and `onDisconnect` has run.
  public func disconnect() async {
    leave(nil)
    await hub.ended()
  }

  public var description: String {
    "MediaChannel(clientId: \(clientId ?? "-"), role: \(configuration.role))"
  }

  public static func == (a: MediaChannel, b: MediaChannel) -> Bool { a === b }
}
