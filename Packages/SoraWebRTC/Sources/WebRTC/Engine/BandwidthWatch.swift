import SoraCongestion
import SoraMedia
import SoraSimulcast
import SoraTransport

/// Who follows what a connection may send. Confined to its network loop.
final class BandwidthWatch {
  /// How often is looked.
  private static let interval = Duration.milliseconds(100)

  private var watchers: [Int: AsyncStream<RTCSendBandwidth>.Continuation] = [:]
  private var nextID = 0
  private var last: RTCSendBandwidth?
  private var next = Instant.zero

  /// Adds one, who gets the latest first.
  ///
  /// - Returns: by which name `remove` knows it.
  func add(_ continuation: AsyncStream<RTCSendBandwidth>.Continuation) -> Int {
    defer { nextID += 1 }
    watchers[nextID] = continuation
    if let last { continuation.yield(last) }
    next = .zero
    return nextID
  }

  func remove(_ id: Int) {
    watchers[id] = nil
    if watchers.isEmpty { last = nil }
  }

  /// Tells what has changed, some times a second.
  func update(_ core: PeerConnectionCore, _ media: MediaPipelines, at now: Instant) {
    guard !watchers.isEmpty, now >= next else { return }
    next = now + Self.interval
    let bandwidth = RTCSendBandwidth(core, media)
    guard bandwidth != last else { return }
    last = bandwidth
    for watcher in watchers.values { watcher.yield(bandwidth) }
  }

  func end() {
    for watcher in watchers.values { watcher.finish() }
    watchers = [:]
  }
}

extension RTCSendBandwidth {
  /// What may be sent now, and why it isn't more.
  fileprivate init(_ core: PeerConnectionCore, _ media: MediaPipelines) {
    self.init(
      estimate: Bitrate(bitsPerSecond: core.session.estimatedBitrate),
      tracks: core.media.compactMap { section in
        guard let send = section.send else { return nil }
        let share = core.bandwidthShares[section.transceiverID]
        var layers: [RTCSendBandwidth.Layer] = []
        var reason: QualityLimitationReason?
        let configuration = media.videoSendConfiguration(section.transceiverID)
        for encoding in send.encodings {
          let rid = encoding.rid
          guard let (video, index) = media.videoSendStatistics(section.transceiverID, rid: rid),
            video.layers.indices.contains(index)
          else { continue }
          let layer = video.layers[index]
          reason = video.limitation.reason
          let settings = configuration?.layers.first { $0.rid == rid }
          layers.append(
            RTCSendBandwidth.Layer(
              rid: rid, target: Bitrate(bitsPerSecond: layer.state.bitsPerSecond),
              width: layer.width, height: layer.height,
              off: RTCSendBandwidth.LayerOff(
                isPaused: encoding.isPausedByPeer,
                // A paused one isn't active for the encoder either.
                isActive: encoding.isPausedByPeer || settings?.isActive ?? true,
                target: layer.state.bitsPerSecond, encoder: reason)))
        }
        return RTCSendBandwidth.Track(
          mid: section.mid, kind: section.kind, target: share?.rate ?? .zero,
          limit: RTCSendBandwidth.Limit(share?.reason, reason), layers: layers)
      })
  }
}
