// sample: run, restart "connected as"
import Foundation
import Sora
import Synchronization

/// Connects anew where a connection is lost, after waits that grow: what an app of the iOS SDK does by hand.
///
/// `Sora.connect(configuration:reconnection:)` does the same, and keeps what was set on streams.
final class Caller: Sendable {
  private struct State {
    var connections = 0
    var failures = 0
  }

  private let configuration: Configuration
  private let state = Mutex(State())

  init(url: URL) {
    configuration = Configuration(
      url: url, channelId: "sora", role: .recvonly, multistreamEnabled: true)
    // Told of what was connected before, and of attempts that failed.
    configuration.mediaChannelHandlers.onDisconnect = { [weak self] error in
      self?.lost(error)
    }
  }

  func connect() {
    _ = Sora.shared.connect(configuration: configuration) { [weak self] mediaChannel, _ in
      guard let mediaChannel else { return }
      self?.connected(mediaChannel)
    }
  }

  private func connected(_ mediaChannel: MediaChannel) {
    let connections = state.withLock { state in
      state.connections += 1
      state.failures = 0
      return state.connections
    }
    print("connected as \(mediaChannel.connectionId ?? "-")")
    // The server has been away meanwhile.
    if connections == 2 { exit(0) }
  }

  private func lost(_ error: Error?) {
    let (hasConnected, failures) = state.withLock { state in
      state.failures += 1
      return (state.connections > 0, state.failures)
    }
    guard let error, hasConnected, failures < 20 else { exit(1) }
    let delay = min(0.5 * Double(failures), 3)
    print("lost, again in \(delay) s: \(error.localizedDescription)")
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { self.connect() }
  }
}

@main enum Reconnection {
  static let caller = Caller(url: URL(string: "ws://127.0.0.1:5000/signaling")!)

  static func main() {
    caller.connect()
    dispatchMain()
  }
}
