import SoraClock
import SoraCommandSupport
import SoraTransport
import WebRTC

/// One connection, what it sends, and what it tells.
final class PeerSession: RTCPeerConnectionDelegate {
  private let connection: RTCPeerConnection
  private let video: VideoInput?
  private let audio: AudioInput?
  private let channels: PeerChannels

  init(_ options: PeerOptions) async throws {
    let factory = try options.factory()
    var configuration = options.configuration()
    configuration.settings.streamConnector = options.connector()
    try configuration.validate()
    guard let connection = factory.peerConnection(with: configuration) else {
      throw PeerRefusal(description: "no connection could be made")
    }
    self.connection = connection
    channels = PeerChannels(connection)
    let pictures = factory.videoSource()
    let sound = factory.audioSource()
    let sends = (options.media ?? true) && (options.sections ?? true)
    // Small, because both ends share the machine.
    video = try VideoInput(
      sends ? .testPattern : .none, resolution: Resolution(width: 320, height: 180),
      framesPerSecond: 15)
    audio = try AudioInput(sends ? .tone : .none, framesPerSecond: 15)
    connection.delegate = self
    let stream = factory.mediaStream(withStreamId: "peer")
    stream.addVideoTrack(factory.videoTrack(with: pictures, trackId: "video"))
    stream.addAudioTrack(factory.audioTrack(with: sound, trackId: "audio"))
    if options.sections ?? true { try await connection.add(stream) }
    let start = SystemClock.now
    video?.start(at: start) { pictures.push($0) }
    audio?.start(at: start) { sound.push($0) }
    JSONLines.write(["type": "opened"])
  }

  /// Ends the connection. Nothing is told of it from here on: the next one may be open by then.
  func close() {
    connection.delegate = nil
    video?.stop()
    audio?.stop()
    connection.close()
  }

  func perform(_ request: PeerRequest) async throws {
    switch request {
    case .open: break
    case .create(let restart):
      if restart { connection.restartIce() }
      try await describe("offer", try await connection.offer())
    case .offer(let sdp):
      try await connection.setRemoteDescription(RTCSessionDescription(type: .offer, sdp: sdp))
      try await describe("answer", try await connection.answer())
    case .answer(let sdp):
      try await connection.setRemoteDescription(RTCSessionDescription(type: .answer, sdp: sdp))
    case .candidate(let line): try await connection.add(RTCIceCandidate(sdp: line))
    case .channel(let request): try await channels.perform(request)
    case .stats: await report()
    case .close: close()
    }
  }

  /// Applies our own description and tells it, with the candidates that are known at once.
  private func describe(_ type: String, _ description: RTCSessionDescription) async throws {
    try await connection.setLocalDescription(description)
    JSONLines.write(["type": type, "sdp": connection.localDescription?.sdp ?? description.sdp])
  }

  private func report() async {
    let statistics = await connection.statistics().statistics.values
    JSONLines.write([
      "type": "stats",
      "stats": statistics.sorted { $0.id < $1.id }.map { object in
        object.values.mapValues(\.json).merging(["id": object.id, "type": object.type]) { $1 }
      },
    ])
  }

  // MARK: Delegate

  func peerConnection(_: RTCPeerConnection, didChange state: RTCPeerConnectionState) {
    JSONLines.write(["type": "state", "state": "\(state)"])
  }

  func peerConnection(_: RTCPeerConnection, didGenerate candidate: RTCIceCandidate) {
    JSONLines.write(["type": "candidate", "candidate": candidate.sdp])
  }

  func peerConnection(_: RTCPeerConnection, didOpen channel: RTCDataChannel) {
    JSONLines.write(["type": "channelOpened", "label": channel.label])
    channels.adopt(channel)
  }

  func peerConnection(_: RTCPeerConnection, didFailWith error: PeerTransportError) {
    JSONLines.write(["type": "failed", "error": "\(error)"])
  }
}

extension RTCStatisticsValue {
  /// As `JSONSerialization` takes it.
  fileprivate var json: Any {
    switch self {
    case .integer(let value): value
    case .double(let value): value
    case .boolean(let value): value
    case .string(let value): value
    case .record(let values): values
    }
  }
}
