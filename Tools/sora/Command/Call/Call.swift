import Foundation
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import Synchronization
import WebRTC

/// What happens to a connection, in one line of events.
enum CallEvent: Sendable {
  case added(any MediaStream)
  case removed(any MediaStream)
  /// A connection has a name that tells people more than its id.
  case named(connectionId: String, name: String)
  /// The connection was lost: another attempt follows.
  case reconnecting(attempt: Int, because: any Error)
  /// There is a new one.
  case reconnected(MediaChannel)
  /// The channel ended: by an error, or as it should.
  case ended((any Error)?)
  case interrupted
  /// Standard output can't be written any more.
  case outputEnded
  /// The display of what is received went away.
  case displayLost
  /// Ten times a second.
  case tick
}

/// One connection of the command from its attempt to its end.
final class Call: Sendable {
  let started = SystemClock.now
  let events: AsyncStream<CallEvent>
  private let continuation: AsyncStream<CallEvent>.Continuation
  private let interruption: Interruption
  private let ticker: Task<Void, Never>
  /// Where a lost connection is made anew.
  private let reconnecting = Mutex<ReconnectingChannel?>(nil)

  static let ticksPerSecond = 10
  /// How long an attempt may take before people are told that nothing has gone wrong yet, seconds.
  private static let patience = 3

  init(_ interruption: Interruption) {
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    self.interruption = interruption
    ticker = Task { [continuation] in
      while (try? await Task.sleep(for: .milliseconds(1_000 / Self.ticksPerSecond))) != nil {
        continuation.yield(.tick)
      }
    }
    interruption.onRequest { [continuation] in continuation.yield(.interrupted) }
  }

  var elapsedMilliseconds: Int { Int((SystemClock.now - started).inMilliseconds) }

  func milliseconds(to instant: Instant) -> Int {
    Int((instant - started).inMilliseconds.rounded())
  }

  /// Connects; an interruption cancels the attempt.
  ///
  /// - Parameters:
  ///   - policy: how the connection is made anew where it is lost; nil where that ends the call.
  ///   - console: where people are told of an attempt that takes long; nil for nowhere.
  func connect(
    _ configuration: SoraSDK.Configuration, reconnection policy: ReconnectionPolicy? = nil,
    telling console: Console?
  ) async throws -> MediaChannel {
    let handlers = configuration.mediaChannelHandlers
    handlers.onAddStream = { [continuation] in continuation.yield(.added($0)) }
    handlers.onRemoveStream = { [continuation] in continuation.yield(.removed($0)) }
    handlers.onReceiveSignaling = { [continuation] message in
      guard case .notify(let notify) = message else { return }
      for (connection, client) in notify.clients where connection != client {
        continuation.yield(.named(connectionId: connection, name: client))
      }
    }
    if policy == nil {
      handlers.onDisconnect = { [continuation] error in continuation.yield(.ended(error)) }
    }
    let settings = UncheckedConfiguration(configuration)
    let attempt = Task { try await connectOnce(settings.value, policy) }
    interruption.onRequest { attempt.cancel() }
    let limit = configuration.connectionTimeout
    let waiting = Task {
      try await Task.sleep(for: .seconds(Self.patience))
      console?.note("sora: still connecting; gives up after \(limit) s")
    }
    defer { waiting.cancel() }
    return try await attempt.value
  }

  private func connectOnce(
    _ configuration: SoraSDK.Configuration, _ policy: ReconnectionPolicy?
  ) async throws -> MediaChannel {
    guard let policy else { return try await Sora.shared.connect(configuration: configuration) }
    let connection = try await Sora.shared.connect(
      configuration: configuration, reconnection: policy)
    reconnecting.withLock { $0 = connection }
    let first = connection.channel
    Task { [continuation] in
      for await event in connection.events {
        switch event {
        case .connected(let channel):
          if channel !== first { continuation.yield(.reconnected(channel)) }
        case .reconnecting(let attempt, _, let error):
          continuation.yield(.reconnecting(attempt: attempt, because: error))
        case .channel: continue
        case .disconnected(let error): continuation.yield(.ended(error))
        }
      }
    }
    return first
  }

  /// A line about a connection that is made anew.
  static func note(ofAttempt attempt: Int, because error: any Error) -> String {
    "sora: the connection was lost (\(ErrorText.line(error))); attempt \(attempt) to connect anew"
  }

  /// What a server leaves undone that ends a call with a --duration.
  static let cutDuration = "before --duration was over"

  /// The line that ends the waiting.
  static let reconnectedNote = "sora: connected anew"

  /// Has the call end when what it tells can't be written, or nobody reads it.
  func endOnFailure(of console: Console) {
    console.onOutputFailure { [continuation] in continuation.yield(.outputEnded) }
  }

  /// Has the call be told that nothing can be seen any more.
  func displayWasLost() { continuation.yield(.displayLost) }

  /// Asks for an orderly end, as Ctrl-C does.
  func end() { interruption.request() }

  /// Ends the channel and waits until it has ended.
  func disconnect(_ channel: MediaChannel) async {
    ticker.cancel()
    if let connection = reconnecting.withLock({ $0 }) {
      await connection.disconnect()
    } else {
      await channel.disconnect()
    }
  }
}

extension SignalingNotify {
  /// The connections that it names, each with its client's id.
  fileprivate var clients: [(connectionId: String, clientId: String)] {
    let others = (data ?? []).map { ($0.connectionId, $0.clientId) }
    return ([(connectionId, clientId)] + others).compactMap { connection, client in
      if let connection, let client { (connection, client) } else { nil }
    }
  }
}

/// A configuration on its way to the task that connects with it.
private struct UncheckedConfiguration: @unchecked Sendable {
  // @unchecked: made here, and read by one task alone; it isn't Sendable only because metadata may be anything.
  let value: SoraSDK.Configuration

  init(_ value: SoraSDK.Configuration) { self.value = value }
}

extension MediaChannel {
  /// Why the channel ended, in one line.
  func reason(_ error: (any Error)?) -> String? {
    failureReason?.inOneLine ?? error.map(ErrorText.line)
  }

  /// Why it is an error that the channel ended, in one line; nil where the server ended it in order and all was done.
  ///
  /// - Parameters:
  ///   - error: what it ended with.
  ///   - undone: what an end in order leaves undone, such as "before all was sent".
  func failure(_ error: (any Error)?, undone: String?) -> String? {
    reason(error) ?? undone.map { endedByServer($0) }
  }

  /// That the server has ended the channel in order, in one line with its reason.
  ///
  /// - Parameter what: what that leaves undone, such as "before all was sent".
  func endedByServer(_ what: String = "") -> String {
    let start = "signaling: the server ended the connection" + (what.isEmpty ? "" : " \(what)")
    guard case .ok(_, let reason)? = closeEvent, !reason.isEmpty, reason != "NO-ERROR" else {
      return start
    }
    return "\(start): \(reason)".inOneLine
  }

  /// What is sent, in the command's words; nil where the channel gives no statistics any more.
  func sendingStatistics() async -> StatisticsReading? {
    let objects = await statisticsObjects()
    return objects.isEmpty ? nil : StatisticsReading(objects, .sending)
  }

  /// What is received of each remote stream, by its id.
  func receivingStatistics() async -> [String: StatisticsReading] {
    let objects = await statisticsObjects()
    guard !objects.isEmpty, let streams = native?.remoteStreams else { return [:] }
    return Dictionary(
      streams.map { stream in
        let tracks =
          stream.videoTracks.map(\.trackId) + stream.audioTracks.map(\.trackId)
        return (
          stream.streamId, StatisticsReading(objects, .receiving, tracks: Set(tracks))
        )
      }, uniquingKeysWith: { first, _ in first })
  }

  private func statisticsObjects() async -> [StatisticsObject] {
    await statistics().entries.map { entry in
      var object = StatisticsObject(id: entry.id, type: entry.type)
      for (name, value) in entry.values {
        if let number = value as? NSNumber {
          object.numbers[name] = number.doubleValue
        } else if let text = value as? NSString {
          object.texts[name] = text.description
        } else if let record = value as? [String: NSNumber] {
          object.records[name] = record.mapValues(\.doubleValue)
        }
      }
      return object
    }
  }
}
