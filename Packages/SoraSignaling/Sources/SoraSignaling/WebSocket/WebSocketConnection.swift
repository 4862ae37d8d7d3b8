import Logging
import NIOCore
import Synchronization

/// A text or binary message of a WebSocket, whole.
public enum WebSocketMessage: Sendable, Hashable {
  case text(String)
  case binary([UInt8])
}

/// An open WebSocket, of a client or of a server.
///
/// Everything here may be called from any thread. `messages` is for one reader, which gets each
/// message in order and then exactly one `closed`. While the reader is behind by more than a few
/// megabytes the socket isn't read, so a fast peer can't fill the memory.
public final class WebSocketConnection: Sendable {
  public enum Event: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
    /// The last event.
    case closed(WebSocketClose)
  }

  /// What arrives, for one reader.
  public typealias Messages = EventSequence<Event>

  private struct Outbox {
    var pendingBytes = 0
    var isOpen = true
    var close: WebSocketClose?
  }

  /// How many bytes may be unsent where nothing else is said.
  public static let usualUnsentBytes = 16 << 20
  static let inboundHighWater = 4 << 20

  /// The URL it was opened with; of a server, the request's path.
  public let url: String
  /// The request that opened it. Only on a server.
  public let request: HTTPRequest?
  /// Address and port of the peer, or of the proxy.
  public let remoteAddress: String
  /// The address alone, as `192.0.2.1`; nil where it has none.
  public let remoteIP: String?
  public let maximumMessageSize: Int

  /// More unsent bytes than this mean that the peer doesn't read: the connection is dropped.
  private let maximumUnsentBytes: Int
  private let channel: any Channel
  private let queue: EventQueue<Event>
  private let outbox = Mutex(Outbox())
  private let logger: Logger

  init(
    channel: any Channel, url: String, request: HTTPRequest?, maximumMessageSize: Int,
    maximumUnsentBytes: Int = WebSocketConnection.usualUnsentBytes, logger: Logger
  ) {
    self.maximumUnsentBytes = maximumUnsentBytes
    self.channel = channel
    self.url = url
    self.request = request
    self.maximumMessageSize = maximumMessageSize
    self.logger = logger
    remoteAddress = channel.remoteAddress.map { "\($0)" } ?? "unknown"
    remoteIP = channel.remoteAddress?.ipAddress
    queue = EventQueue(highWater: Self.inboundHighWater)
    queue.onDrained { [weak channel = channel as AnyObject & Sendable] in
      (channel as? any Channel)?.triggerUserOutboundEvent(ResumeReading(), promise: nil)
    }
  }

  /// What arrives. Ends after one `closed`.
  public var messages: Messages { Messages(queue: queue) }

  /// False once it is closing or closed.
  public var isOpen: Bool { outbox.withLock { $0.isOpen } }

  /// How it ended; nil while it lives.
  public var closed: WebSocketClose? { outbox.withLock { $0.close } }

  /// Queues a text message. Messages leave in the order of the calls.
  ///
  /// - Returns: false when nothing was queued, because the connection is closed or the text is
  ///   larger than `maximumMessageSize` (which is logged as an error).
  @discardableResult
  public func send(text: String) -> Bool { enqueue(.text(text), size: text.utf8.count) }

  /// Queues a signaling message, like `send(text:)`.
  @discardableResult
  public func send(_ message: SignalingMessage) -> Bool { send(text: message.text) }

  /// Queues a binary message, like `send(text:)`.
  @discardableResult
  public func send(binary: [UInt8]) -> Bool { enqueue(.binary(binary), size: binary.count) }

  /// Sends a close frame after what is queued, and closes when the peer has answered, at the
  /// latest after the close timeout. Later calls do nothing.
  ///
  /// - Parameters:
  ///   - code: 1000 is sent in place of a code that must not be on the wire (RFC 6455 §7.4).
  ///   - reason: cut to 123 bytes, which is all that a close frame holds.
  public func close(code: WebSocketCloseCode = .normal, reason: String = "") {
    let wasOpen = outbox.withLock { outbox in
      defer { outbox.isOpen = false }
      return outbox.isOpen
    }
    guard wasOpen else { return }
    let command = WebSocketCommand.close(code: code.isSendable ? code : .normal, reason: reason)
    // Through the loop's queue even on the loop itself, so that order is the order of calls.
    channel.eventLoop.execute { [channel] in channel.writeAndFlush(command, promise: nil) }
  }

  /// Closes the socket at once, without a close frame.
  public func abort() {
    outbox.withLock { $0.isOpen = false }
    channel.close(promise: nil)
  }

  private func enqueue(_ message: WebSocketMessage, size: Int) -> Bool {
    guard size <= maximumMessageSize else {
      logger.error(
        "a message was not sent: it is larger than the limit",
        metadata: ["bytes": "\(size)", "limit": "\(maximumMessageSize)"])
      return false
    }
    let (isOpen, overflows) = outbox.withLock { outbox in
      guard outbox.isOpen else { return (false, false) }
      outbox.pendingBytes += size
      return (true, outbox.pendingBytes > maximumUnsentBytes)
    }
    guard isOpen else { return false }
    if overflows {
      logger.error("the peer doesn't read what is sent; the connection is dropped")
      channel.eventLoop.execute { [channel, maximumUnsentBytes] in
        channel.pipeline.fireErrorCaught(
          SignalingError(
            stage: .signaling, code: .queueFull,
            detail: "the peer left more than \(maximumUnsentBytes) bytes unread",
            wayOut: "check the network and the peer, then connect again"))
      }
      return false
    }
    let written = channel.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { [weak self] _ in
      self?.outbox.withLock { $0.pendingBytes -= size }
    }
    channel.eventLoop.execute { [channel] in
      channel.writeAndFlush(WebSocketCommand.message(message), promise: written)
    }
    return true
  }

  // Called by the frame handler, on the loop.

  /// Returns true when the socket should not be read for now.
  func received(_ message: WebSocketMessage) -> Bool {
    switch message {
    case .text(let text): queue.push(.text(text), cost: text.utf8.count + 64)
    case .binary(let bytes): queue.push(.binary(bytes), cost: bytes.count + 64)
    }
  }

  func ended(_ close: WebSocketClose) {
    let isFirst = outbox.withLock { outbox in
      outbox.isOpen = false
      guard outbox.close == nil else { return false }
      outbox.close = close
      return true
    }
    guard isFirst else { return }
    queue.push(.closed(close))
    queue.finish()
  }
}

/// What a connection asks its frame handler to write.
enum WebSocketCommand: Sendable {
  case message(WebSocketMessage)
  case close(code: WebSocketCloseCode, reason: String)
}

/// The reader has caught up.
struct ResumeReading: Sendable {}
