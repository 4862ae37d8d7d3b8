extension RTCPeerConnection {
  /// What may be sent, with each change, at most ten times a second, until the connection is closed. Every call makes a stream of its own,
  /// which keeps the newest for who reads slowly. Not libwebrtc's.
  ///
  /// ```swift
  /// import WebRTC
  ///
  /// /// Prints the estimate, and what keeps each track from more.
  /// func follow(_ connection: RTCPeerConnection) async {
  ///   for await bandwidth in connection.sendBandwidth {
  ///     print(bandwidth.estimate, bandwidth.tracks.map { ($0.mid, $0.target, $0.limit) })
  ///   }
  /// }
  /// ```
  public var sendBandwidth: AsyncStream<RTCSendBandwidth> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RTCSendBandwidth.self, bufferingPolicy: .bufferingNewest(1))
    let actor = actor
    Task {
      let id = try? await actor.run { $0.bandwidthWatch.add(continuation) }
      guard let id = id ?? nil else { return continuation.finish() }
      continuation.onTermination = { _ in actor.execute { $0.bandwidthWatch.remove(id) } }
    }
    return stream
  }
}
