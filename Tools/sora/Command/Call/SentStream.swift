import SoraCommandSupport
import SoraMedia
import SoraSDK
import Synchronization

/// What `sora publish` sends on: the local stream of the connection that there is, which is another one after a loss. Safe from any thread.
final class SentStream: Sendable {
  private struct State: Sendable {
    var stream: any MediaStream
    /// Sources hold theirs weakly.
    var feedback: FeedFeedback?
  }

  private let state: Mutex<State>
  private let feed: (any VideoFeed)?
  private let passesThrough: Bool
  private let microphoneSink: SentSound?

  /// - Parameters:
  ///   - feed: what makes the pictures, and is told what becomes of them.
  ///   - passesThrough: whether encoded pictures go as they are where they can.
  ///   - microphoneSink: gets what the microphone gives; nil where there is none.
  init(
    _ stream: any MediaStream, feed: (any VideoFeed)?, passesThrough: Bool,
    microphoneSink: SentSound?
  ) {
    state = Mutex(State(stream: stream))
    self.feed = feed
    self.passesThrough = passesThrough
    self.microphoneSink = microphoneSink
    move(to: stream)
  }

  /// Sends on another stream from now on.
  func move(to stream: any MediaStream) {
    var feedback: FeedFeedback?
    if let feed, let source = stream.videoSource {
      feedback = FeedFeedback(feed, to: source, passesThrough: passesThrough)
    }
    if let microphoneSink { stream.addAudioSink(microphoneSink) }
    state.withLock { $0 = State(stream: stream, feedback: feedback) }
  }

  private var stream: any MediaStream { state.withLock { $0.stream } }

  func send(_ sound: AudioFrame) { stream.send(audioFrame: sound) }
  func send(packet: EncodedFrame) { stream.send(encodedAudioFrame: packet) }

  func send(_ picture: PublishedPicture) {
    switch picture {
    case .raw(let frame): stream.send(videoFrame: VideoFrame(frame))
    case .encoded(let frame, let codec): stream.send(encodedVideoFrame: frame, codec: codec)
    }
  }
}

/// What the connections of one call have sent, one after the other.
struct SentTotals {
  private var earlier = StatisticsReading()
  private var current = StatisticsReading()
  private(set) var reconnections = 0

  /// Of all of them.
  private(set) var sum = StatisticsReading()

  /// Takes over newer statistics of the connection that there is.
  mutating func update(_ new: StatisticsReading) {
    current = new
    sum = new
    if reconnections > 0 { sum.addEarlier(earlier) }
  }

  /// There is another connection.
  mutating func reconnected() {
    reconnections += 1
    earlier.addEarlier(current)
    update(StatisticsReading())
  }
}
