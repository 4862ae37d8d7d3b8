public import SoraMedia
import Synchronization

extension MediaChannel {
  /// Has the encoded frames of each stream that others send go to a sink: of those that are there, and of those that come. A whole
  /// channel is recorded so, with `SessionRecorder` of SoraRecording: its page has the lines.
  ///
  /// - Parameters:
  ///   - make: a stream's sink; nil for none. On the channel's queue, once for each stream.
  ///   - removed: called likewise where a stream with a sink is gone, or the channel has ended.
  public func addEncodedFrameSinks(
    _ make: @escaping @Sendable (any MediaStream) -> (any EncodedFrameSink)?,
    removed: @escaping @Sendable (any MediaStream) -> Void = { _ in }
  ) {
    let sinks = StreamSinks(make: make, removed: removed)
    deliver { channel in
      let local = channel.configuration.publisherStreamId
      let streams = channel.storage.withLock { $0.streams }
      for stream in streams where stream.streamId != local { sinks.add(to: stream) }
    } when: { state in
      state.streamSinks.append(sinks)
      return true
    }
  }
}
