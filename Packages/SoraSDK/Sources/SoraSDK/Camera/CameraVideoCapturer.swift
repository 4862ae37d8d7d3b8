public import SoraCamera
import SoraMedia
import Synchronization
import WebRTC

/// Takes frames from a camera and sends them to a stream.
///
/// Everything may be called from any thread. What takes time (opening, closing, changing) runs later on the queue of
/// `SoraDispatcher.camera`, one after the other; completion handlers and `CameraVideoCapturerHandlers` run there too. Of the frames
/// that come while that queue is busy the newest is kept. Errors are `SoraError.cameraError`.
///
/// Several cameras may run at once, each with a capturer of its own.
///
/// A format of H.264 or H.265 is sent as the camera encodes it, where that codec is the negotiated one: the camera is asked for key
/// frames and told the network's rate, where its driver lets it. `onCapture` and local renderers don't see such frames.
public final class CameraVideoCapturer: Sendable {
  /// Gets nil when it worked, or what went wrong.
  public typealias CompletionHandler = @Sendable ((any Error)?) -> Void

  /// A camera that is open, and what its frames go through.
  private struct Run: Sendable {
    /// Whatever `device` says by now.
    var device: CameraDevice
    var relay: FrameRelay
    var camera: any OpenCamera
    /// Of a camera whose encoded frames are sent: tells it what those who receive them want.
    var feedback: CameraFeedback?
  }

  private struct State: Sendable {
    var device: CameraDevice
    var stream: (any MediaStream)?
    /// What it was started with last.
    var choice: CameraChoice?
    /// nil while it doesn't run.
    var run: Run?
  }

  let cameras: Cameras
  private let state: Mutex<State>

  /// A capturer of a camera's. Nothing is opened before it is started.
  public convenience init(device: CameraDevice) { self.init(device: device, cameras: .shared) }

  package init(device: CameraDevice, cameras: Cameras) {
    self.cameras = cameras
    state = Mutex(State(device: device))
  }

  private func read<Value: Sendable>(_ path: (State) -> Value) -> Value {
    state.withLock { path($0) }
  }

  /// The camera. Another one counts from the next start; until then the one that runs goes on.
  public var device: CameraDevice {
    get { read { $0.device } }
    set { state.withLock { $0.device = newValue } }
  }

  /// Where the frames go. It is held until it is replaced; a channel that started the camera takes its own away when it ends.
  public var stream: (any MediaStream)? {
    get { read { $0.stream } }
    set {
      state.withLock { $0.stream = newValue }
      connectFeedback()
    }
  }

  /// Whether the camera runs.
  public var isRunning: Bool { read { $0.run != nil } }
  /// The format that it was started with last; nil before the first start.
  public var format: CameraFormat? { choice?.format }
  /// Frames per second that it was started with last; nil before the first start.
  public var frameRate: Int? { choice?.frameRate }
  /// What `device` counts as now: front for the machine's first camera, back for the second, else unspecified.
  public var position: CameraPosition { cameras.position(of: device) }

  var choice: CameraChoice? { read { $0.choice } }
  /// The camera that is open; nil while none is.
  var openDevice: CameraDevice? { read { $0.run?.device } }

  // MARK: On the camera's queue

  /// Opens a camera, `device` where none is named, and takes its frames.
  func begin(_ choice: CameraChoice, on device: CameraDevice? = nil) throws(SoraError) {
    if let openDevice {
      throw .cameraError(
        reason: "\(openDevice) is running already; stop it first, or change its format")
    }
    let device = device ?? self.device
    let relay = FrameRelay { [weak self] relay, frame in self?.captured(frame, by: relay) }
    let codec = choice.format.pixelFormat.codec
    let camera: any OpenCamera
    do throws(CameraError) {
      camera = try cameras.system.open(
        device, format: choice.format, framesPerSecond: choice.frameRate,
        deliver: { [weak self] captured in
          if let frame = captured.rawFrame {
            relay.offer(VideoFrame(frame))
          } else if let codec,
            let frame = captured.encodedFrame(
              width: choice.format.width, height: choice.format.height)
          {
            self?.captured(frame, codec, by: relay)
          }
        },
        notify: { [weak self] event in
          SoraDispatcher.async(on: .camera) { [weak self] in self?.told(event, by: relay) }
        })
    } catch {
      throw SoraError(error)
    }
    state.withLock { state in
      state.choice = choice
      state.run = Run(
        device: device, relay: relay, camera: camera,
        feedback: codec.map { _ in CameraFeedback(cameras.system.encoding(of: device)) })
    }
    connectFeedback()
    cameras.began(self)
    Logger.info(
      type: .cameraVideoCapturer,
      message: "\(device) is running: \(choice.format), \(choice.frameRate) frames per second")
  }

  /// Closes the camera.
  func halt() throws(SoraError) {
    guard let run = read({ $0.run }) else {
      throw .cameraError(reason: "\(device) isn't running; start it first")
    }
    run.camera.stop()
    run.relay.clear()
    state.withLock { $0.run = nil }
    cameras.ended(self)
  }

  /// Has the stream's source tell a camera that encodes what is wanted of it. Where another codec was negotiated than the camera's, its
  /// frames are decoded and encoded again.
  private func connectFeedback() {
    let (stream, feedback) = read { ($0.stream, $0.run?.feedback) }
    guard let feedback, let source = stream?.videoSource else { return }
    source.encodedFrameHandling = .transcodeWhereNeeded
    source.hasFixedEncodedBitrate = !feedback.canChangeRate
    source.encodedFrameDelegate = feedback
  }

  /// Encoded frames don't wait for the camera's queue: each of them is needed for the next.
  private func captured(_ frame: EncodedFrame, _ codec: VideoCodecKind, by relay: FrameRelay) {
    let (isCurrent, stream) = read { ($0.run?.relay === relay, $0.stream) }
    if isCurrent { stream?.send(encodedVideoFrame: frame, codec: codec) }
  }

  private func captured(_ frame: VideoFrame, by relay: FrameRelay) {
    let (isCurrent, stream) = read { ($0.run?.relay === relay, $0.stream) }
    // What was under way when the camera was stopped.
    guard isCurrent else { return }
    let frame = cameras.handlers.onCapture?(self, frame) ?? frame
    stream?.send(videoFrame: frame)
  }

  private func told(_ event: CameraCapture.Event, by relay: FrameRelay) {
    guard let run = read({ $0.run }), run.relay === relay else { return }
    let device = run.device
    switch event {
    case .stalled(let time):
      let seconds = time.components.seconds
      Logger.warn(
        type: .cameraVideoCapturer, message: "\(device) has given no frame for \(seconds) s")
    case .resumed: Logger.info(type: .cameraVideoCapturer, message: "\(device) gives frames again")
    case .ended(let error):
      Logger.error(type: .cameraVideoCapturer, message: "\(device) has ended: \(error)")
      try? halt()
      cameras.handlers.onStop?(self)
    }
  }
}

/// Tells a camera that encodes what those who receive its frames want.
private final class CameraFeedback: RTCEncodedVideoSourceDelegate {
  private let camera: any EncodingCamera

  init(_ camera: any EncodingCamera) { self.camera = camera }

  var canChangeRate: Bool { camera.bitRates != nil }

  func videoSourceNeedsKeyFrame(_ source: RTCVideoSource) { camera.requestKeyFrame() }
  func videoSource(_ source: RTCVideoSource, targetBitrateChanged bitsPerSecond: Int) {
    camera.setBitRate(bitsPerSecond)
  }
}

/// Told what capturers do, for all of them. On the queue of `SoraDispatcher.camera`.
public final class CameraVideoCapturerHandlers: Sendable {
  private struct Values: Sendable {
    var onCapture: (@Sendable (CameraVideoCapturer, VideoFrame) -> VideoFrame)?
    var onStart: (@Sendable (CameraVideoCapturer) -> Void)?
    var onStop: (@Sendable (CameraVideoCapturer) -> Void)?
  }

  private let values = Locked(Values())

  /// Gets each frame before it is sent, and returns the one to send in its place. Not those that the camera has encoded.
  public var onCapture: (@Sendable (CameraVideoCapturer, VideoFrame) -> VideoFrame)? {
    get { values.onCapture }
    set { values.onCapture = newValue }
  }
  /// A camera was started, and the completion handler has run.
  public var onStart: (@Sendable (CameraVideoCapturer) -> Void)? {
    get { values.onStart }
    set { values.onStart = newValue }
  }
  /// A camera was stopped, or has ended by itself, such as when it was unplugged. Where one call stops and starts, this comes after
  /// `onStart`.
  public var onStop: (@Sendable (CameraVideoCapturer) -> Void)? {
    get { values.onStop }
    set { values.onStop = newValue }
  }

  public init() {}
}
