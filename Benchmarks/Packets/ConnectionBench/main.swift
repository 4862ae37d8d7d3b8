// How long two peer connections of one process take from the answer to connected, and what one holds when idle.
import Foundation
import SoraMedia
import Synchronization
import WebRTC

/// Notes when a connection stands.
final class Watcher: RTCPeerConnectionDelegate, Sendable {
  private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
  private let isConnected = Mutex(false)

  func peerConnection(_: RTCPeerConnection, didChange state: RTCPeerConnectionState) {
    guard state == .connected else { return }
    isConnected.withLock { $0 = true }
    waiting.withLock { $0.take() }?.resume()
  }

  func connected() async {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0 = continuation }
      if isConnected.withLock({ $0 }) { waiting.withLock { $0.take() }?.resume() }
    }
  }
}

struct Pair {
  var one: RTCPeerConnection
  var two: RTCPeerConnection
  var watchers: [Watcher]
  var milliseconds: Double

  init(_ factory: RTCPeerConnectionFactory) async throws {
    watchers = [Watcher(), Watcher()]
    guard
      let one = factory.peerConnection(with: RTCConfiguration(), delegate: watchers[0]),
      let two = factory.peerConnection(with: RTCConfiguration(), delegate: watchers[1])
    else { throw CocoaError(.featureUnsupported) }
    self.one = one
    self.two = two
    let stream = factory.mediaStream(withStreamId: "stream")
    stream.addVideoTrack(factory.videoTrack(with: factory.videoSource(), trackId: "video"))
    stream.addAudioTrack(factory.audioTrack(with: factory.audioSource(), trackId: "audio"))
    try await one.add(stream)
    let started = ContinuousClock.now
    try await one.setLocalDescription(try await one.offer())
    try await two.setRemoteDescription(one.localDescription!)
    try await two.setLocalDescription(try await two.answer())
    try await one.setRemoteDescription(two.localDescription!)
    for watcher in watchers { await watcher.connected() }
    let elapsed = ContinuousClock.now - started
    milliseconds =
      Double(elapsed.components.attoseconds) / 1e15 + Double(elapsed.components.seconds) * 1e3
  }

  func close() {
    one.close()
    two.close()
  }
}

func residentBytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}

let factory = RTCPeerConnectionFactory()
// The first ones load libraries and start loops.
for _ in 0..<5 { try await Pair(factory).close() }
var times: [Double] = []
for _ in 0..<50 {
  let pair = try await Pair(factory)
  times.append(pair.milliseconds)
  pair.close()
}
times.sort()
print(
  String(
    format: "offer to connected, both ends in one process, 50 times: p50 %.1f ms, p95 %.1f ms",
    times[25], times[47]))

var idle: [Pair] = []
for _ in 0..<20 { idle.append(try await Pair(factory)) }
let before = residentBytes()
for _ in 0..<100 { idle.append(try await Pair(factory)) }
let after = residentBytes()
print(
  String(
    format: "resident memory of one idle connection, from 200 more: %.0f KiB",
    Double(after - before) / 200 / 1024))
for pair in idle { pair.close() }
