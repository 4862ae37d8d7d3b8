public import Foundation
import Synchronization

/// What happens to a connection that is made anew where it is lost.
public enum ReconnectingChannelEvent: Sendable {
  /// Media can flow: at first, and after each loss.
  case connected(MediaChannel)
  /// The connection was lost, or an attempt failed; another attempt follows after the delay.
  case reconnecting(attempt: Int, after: Duration, because: any Error)
  /// What happened to the channel that there is, its `connected` and `disconnected` excepted.
  case channel(MediaChannelEvent)
  /// It is over: nil where it ended as it should. The last event.
  case disconnected((any Error)?)
}

/// A connection to a channel that is made anew where it is lost: `Sora.connect(configuration:reconnection:)`. Linux only.
///
/// Each connection is a `MediaChannel` of its own, with the configuration's handlers. A stream that comes again gets what the app had
/// set on the one before: renderer, filter, volume, and whether it is muted. Others' streams keep their ids while their senders stay. Sinks are the
/// app's to add again. What an app sends through this object goes to the stream that there is, and is dropped while there is none.
/// Everything may be called from any thread.
public final class ReconnectingChannel: Sendable {
  private struct State: Sendable {
    var channel: MediaChannel
    var isLeaving = false
    var task: Task<Void, Never>?
    /// Of this connection, by id.
    var streams: [String: any MediaStream] = [:]
    /// Of those before, which haven't come again.
    var earlier: [String: any MediaStream] = [:]
    /// Where the last offer came from: the node of a cluster that a redirect led to.
    var node: URL?

    /// A new connection begins.
    mutating func turn(to node: URL?) {
      self.node = node ?? self.node
      earlier.merge(streams) { $1 }
      // Of those who have left meanwhile nobody tells.
      if earlier.count > ReconnectingChannel.mostStreams { earlier = streams }
      streams = [:]
    }
  }

  /// What happens, for one reader. Events wait without limit for one that doesn't read.
  public let events: AsyncStream<ReconnectingChannelEvent>
  public let policy: ReconnectionPolicy

  /// Whose settings are kept.
  private static let mostStreams = 256

  private let sora: Sora
  private let configuration: Configuration
  private let publisher: AsyncStream<ReconnectingChannelEvent>.Continuation
  private let state: Mutex<State>

  fileprivate init(_ channel: MediaChannel, sora: Sora, policy: ReconnectionPolicy) {
    self.sora = sora
    self.policy = policy
    configuration = channel.configuration
    (events, publisher) = AsyncStream.makeStream(of: ReconnectingChannelEvent.self)
    state = Mutex(State(channel: channel))
    let task = Task { await run(channel) }
    state.withLock { $0.task = task }
  }

  /// The channel that there is, or the last one.
  public var channel: MediaChannel { state.withLock { $0.channel } }

  /// Sends a frame on the local stream that there is: see `MediaStream.send(videoFrame:)`.
  public func send(videoFrame: VideoFrame?) { channel.senderStream?.send(videoFrame: videoFrame) }

  /// Sends sound on the local stream that there is: see `MediaStream.send(audioFrame:)`.
  public func send(audioFrame: AudioFrame) { channel.senderStream?.send(audioFrame: audioFrame) }

  /// Sends a message on the channel that there is: see `MediaChannel.sendMessage`.
  public func sendMessage(label: String, data: Data) -> (any Error)? {
    channel.sendMessage(label: label, data: data)
  }

  /// Ends it, whether it is connected or not, and waits until it has ended.
  public func disconnect() async {
    let (channel, task) = state.withLock { state in
      state.isLeaving = true
      return (state.channel, state.task)
    }
    // What waits for its time, or for a server, needn't.
    task?.cancel()
    await channel.disconnect()
    await task?.value
  }

  // MARK: The connections

  private func run(_ first: MediaChannel) async {
    var current: MediaChannel? = first
    while let channel = current {
      let error = await follow(channel)
      guard let error, canGoOn(after: error) else { return end(error) }
      current = await reconnect(after: error)
    }
  }

  /// Reads a channel to its end, and tells why it ended.
  private func follow(_ channel: MediaChannel) async -> (any Error)? {
    state.withLock { $0.turn(to: channel.connectedUrl) }
    publisher.yield(.connected(channel))
    // Not of this task, which may be cancelled before the last event.
    let reading = Task { () -> (any Error)? in
      for await event in channel.events {
        switch event {
        case .connected: continue
        case .disconnected(let error): return error
        case .streamAdded(let stream): keep(stream)
        case .streamRemoved(let stream):
          state.withLock { $0.streams[stream.streamId] = nil }
        default: break
        }
        publisher.yield(.channel(event))
      }
      return nil
    }
    return await reading.value
  }

  /// A stream has come: it gets what was set on the one of its name.
  private func keep(_ stream: any MediaStream) {
    let before = state.withLock { state in
      state.streams[stream.streamId] = stream
      return state.earlier.removeValue(forKey: stream.streamId)
    }
    if let before { StreamSettings(before).apply(to: stream) }
  }

  /// - Returns: the new channel; nil where there will be none, which has been told.
  private func reconnect(after loss: any Error) async -> MediaChannel? {
    var error = loss
    var attempt = 0
    var configuration = configuration
    // All candidates are tried at once: the node that had the channel is one of them.
    if let node = state.withLock({ $0.node }), !configuration.urlCandidates.contains(node) {
      configuration.urlCandidates.append(node)
    }
    while canGoOn(after: error), attempt < policy.maximumAttempts ?? .max {
      attempt += 1
      let delay = policy.delay(before: attempt, random: .random(in: 0...1))
      publisher.yield(.reconnecting(attempt: attempt, after: delay, because: error))
      Logger.info(
        type: .mediaChannel,
        message: "the connection was lost: attempt \(attempt) follows after \(delay)")
      do {
        try await Task.sleep(for: delay)
        let channel = try await sora.connect(configuration: configuration)
        let isLeaving = state.withLock { state in
          state.channel = channel
          return state.isLeaving
        }
        guard isLeaving else { return channel }
        await channel.disconnect()
      } catch let failure {
        error = failure
      }
    }
    end(state.withLock { $0.isLeaving } ? nil : error)
    return nil
  }

  private func canGoOn(after error: any Error) -> Bool {
    !state.withLock { $0.isLeaving } && ReconnectionPolicy.isRecoverable(error)
  }

  private func end(_ error: (any Error)?) {
    state.withLock { $0.streams = [:] }
    publisher.yield(.disconnected(error))
    publisher.finish()
  }
}

extension Sora {
  /// Connects to a channel, and connects anew where the connection is lost: by the network, by a server that goes, by one that is full. It ends
  /// where the app leaves, where the server ends it in order (1000), refuses it (4490), and where too many attempts have failed.
  ///
  /// ```swift
  /// import Sora
  ///
  /// /// Stays in a channel as long as it can be reached.
  /// func stay(_ configuration: Configuration) async throws {
  ///   let connection = try await Sora.shared.connect(
  ///     configuration: configuration, reconnection: ReconnectionPolicy())
  ///   for await event in connection.events {
  ///     switch event {
  ///     case .connected(let channel): print("connected as", channel.connectionId ?? "")
  ///     case .reconnecting(let attempt, let delay, let error): print(attempt, delay, error)
  ///     case .channel(let event): print(event)
  ///     case .disconnected(let error): print("the end:", error.map { "\($0)" } ?? "in order")
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: why the first attempt failed: that one isn't repeated.
  public func connect(
    configuration: Configuration, reconnection policy: ReconnectionPolicy
  ) async throws -> ReconnectingChannel {
    ReconnectingChannel(
      try await connect(configuration: configuration), sora: self, policy: policy)
  }
}
