public import SoraMedia
import Synchronization

/// Where a track's data comes from.
open class RTCMediaSource: @unchecked Sendable {
  // @unchecked: has no state; subclasses guard theirs.
  public enum State: Int, Sendable { case initializing, live, ended, muted }
  open var state: State { .live }

  init() {}
}

/// Takes frames from a capturer and gives them to every track, encoder and renderer that follows it.
public final class RTCVideoSource: RTCMediaSource, RTCVideoCapturerDelegate, @unchecked Sendable {
  // @unchecked: its only state are the broadcasters, which are Sendable.
  let broadcaster = VideoBroadcaster()
  /// Of frames that are encoded already.
  let encoded = EncodedVideoBroadcaster()

  override init() {}

  /// Passes a frame on, on the caller's thread.
  public func capturer(_ capturer: RTCVideoCapturer, didCapture frame: RTCVideoFrame) {
    push(frame.frame)
  }

  /// Passes a frame on, on the caller's thread.
  public func push(_ frame: RawVideoFrame) { broadcaster.push(frame) }
}

/// Takes audio from a device, a file or a generator, and holds the volume of a received track.
public final class RTCAudioSource: RTCMediaSource, @unchecked Sendable {
  // @unchecked: its state lives in the broadcaster and in mutexes.
  let broadcaster = AudioBroadcaster()
  private let receivedVolume = Mutex(1.0)
  private let ownGain = Mutex((wanted: 1.0, reached: 1.0))

  override init() {}

  /// Volume of a received track, 0 to 10; 1 leaves the samples as they are.
  public var volume: Double {
    get { receivedVolume.withLock { $0 } }
    set { receivedVolume.withLock { $0 = min(10, max(0, newValue)) } }
  }

  /// How many times as loud the sound of a source of ours goes on as it was pushed, 0 (silence) to 10; 1 at first. Samples beyond 16 bits
  /// are clipped. A change takes one frame, so that nothing clicks. Packets that are encoded already stay as they are.
  public var gain: Double {
    get { ownGain.withLock { $0.wanted } }
    set {
      guard !newValue.isNaN else { return }
      ownGain.withLock { $0.wanted = min(10, max(0, newValue)) }
    }
  }

  /// Passes audio on, on the caller's thread. Any length and rate; 48 kHz in multiples of 10 ms costs least.
  ///
  /// Encoders take it on queues of their own: when 200 ms wait for one, the oldest frames are dropped and counted as
  /// `connection.audioEncoderBehind` in `RTCStatisticsReport.packetDrops`. From one thread at a time.
  public func push(_ frame: AudioFrame) {
    var frame = frame
    let (first, last) = ownGain.withLock { gain in
      defer { gain.reached = gain.wanted }
      return (gain.reached, gain.wanted)
    }
    frame.scale(from: first, to: last)
    broadcaster.push(frame)
  }

  /// Sends an Opus packet without encoding it again: a file's, or another call's.
  ///
  /// Packets come in order. RTP timestamps follow their lengths, and jump ahead where their `timestamp`s leave a gap of more than
  /// 60 ms. The server isn't told how loud they are, and a disabled track sends nothing. A packet that is none, or doesn't fit a
  /// datagram (1,100 bytes), is counted as `connection.audioNotEncoded` in `RTCStatisticsReport.packetDrops`.
  ///
  /// - Parameter packet: its payload, and when its first sample was captured, on the monotonic clock. From one thread at a time.
  public func push(packet: EncodedFrame) { broadcaster.push(packet: packet) }
}
