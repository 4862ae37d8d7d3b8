import Foundation
import SoraCamera
import SoraMedia
import SoraSDK
import Synchronization
import WebRTC

/// Cameras that a test plugs, unplugs and takes pictures with.
final class FakeCameras: CameraSystem {
  private struct State {
    var devices: [CameraDevice]
    var formats: [CameraFormat]
    var refusals: [String: CameraError] = [:]
    var opened: [FakeCamera] = []
    var watchers: [@Sendable ([CameraDevice]) -> Void] = []
  }

  private let state: Mutex<State>
  /// "open PATH FORMAT@RATE" and "close PATH", in order.
  let log = Recorder<String>()

  init(
    _ names: [String] = ["face", "world"],
    formats: [CameraFormat] = [
      CameraFormat(pixelFormat: .yuyv, width: 640, height: 480, frameRateRanges: [30...30]),
      CameraFormat(pixelFormat: .yuyv, width: 1280, height: 720, frameRateRanges: [10...10]),
      CameraFormat(pixelFormat: .mjpeg, width: 1280, height: 720, frameRateRanges: [30...30]),
      CameraFormat(pixelFormat: .h264, width: 1280, height: 720, frameRateRanges: [30...30]),
    ]
  ) {
    state = Mutex(State(devices: names.map(Self.device), formats: formats))
  }

  static func device(_ name: String) -> CameraDevice {
    CameraDevice(path: name, name: name, bus: "usb \(name)", driver: "fake")
  }

  var devices: [CameraDevice] { state.withLock { $0.devices } }

  func formats(of device: CameraDevice) throws(CameraError) -> [CameraFormat] {
    guard devices.contains(device) else { throw .noDevice(path: device.path) }
    return state.withLock { $0.formats }
  }

  func open(
    _ device: CameraDevice, format: CameraFormat, framesPerSecond: Int,
    deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void
  ) throws(CameraError) -> any OpenCamera {
    let refusal = state.withLock { state -> CameraError? in
      if let refusal = state.refusals["\(format)"] ?? state.refusals[device.path] { return refusal }
      return state.opened.contains { $0.device == device } ? .busy(path: device.path) : nil
    }
    if let refusal { throw refusal }
    log.append("open \(device.path) \(format)@\(framesPerSecond)")
    let camera = FakeCamera(device: device, deliver: deliver, notify: notify) { [self] camera in
      state.withLock { $0.opened.removeAll { $0 === camera } }
      log.append("close \(device.path)")
    }
    state.withLock { $0.opened.append(camera) }
    return camera
  }

  func encoding(of device: CameraDevice) -> any EncodingCamera { FakeEncoding(log: log) }

  private struct FakeEncoding: EncodingCamera {
    let log: Recorder<String>
    let bitRates: ClosedRange<Int>? = 100_000...10_000_000
    func requestKeyFrame() -> Bool {
      log.append("key frame")
      return true
    }
    func setBitRate(_ bitsPerSecond: Int) -> Bool {
      log.append("rate \(bitsPerSecond)")
      return true
    }
  }

  func watch(
    _ changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) -> any Sendable {
    changed(devices)
    state.withLock { $0.watchers.append(changed) }
    return Watch { [self] in state.withLock { $0.watchers = [] } }
  }

  private final class Watch: Sendable {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  var watcherCount: Int { state.withLock { $0.watchers.count } }

  /// Has a camera, by its name, or a format, by its description, be refused.
  func refuse(_ what: String, with error: CameraError?) {
    state.withLock { $0.refusals[what] = error }
  }

  /// A camera that is open.
  func running(_ name: String) -> FakeCamera? {
    state.withLock { $0.opened.first { $0.device.path == name } }
  }

  func unplug(_ name: String) {
    let (watchers, devices) = state.withLock { state in
      state.devices.removeAll { $0.path == name }
      return (state.watchers, state.devices)
    }
    running(name)?.notify(.ended(.unplugged(path: name)))
    for watcher in watchers { watcher(devices) }
  }
}

/// One that is open.
final class FakeCamera: OpenCamera {
  let device: CameraDevice
  private let deliver: @Sendable (CapturedFrame) -> Void
  let notify: @Sendable (CameraCapture.Event) -> Void
  private let closed: @Sendable (FakeCamera) -> Void

  init(
    device: CameraDevice, deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void,
    closed: @escaping @Sendable (FakeCamera) -> Void
  ) {
    self.device = device
    self.deliver = deliver
    self.notify = notify
    self.closed = closed
  }

  func stop() { closed(self) }

  /// Takes a picture of so many pixels' width.
  func shoot(width: Int = 64, at timestamp: Instant = .now) {
    deliver(
      CapturedFrame(
        content: .picture(PixelBuffer(width: width, height: 36, format: .i420) { _ in }),
        timestamp: timestamp))
  }

  /// Gives a picture that it has encoded.
  func encode(_ bytes: [UInt8], isKeyFrame: Bool, at timestamp: Instant = .now) {
    deliver(
      CapturedFrame(
        content: .encoded(EncodedBuffer(bytes), isKeyFrame: isKeyFrame), timestamp: timestamp))
  }
}

/// A stream that notes what it is sent: "WIDTH@NANOSECONDS".
final class FakeStream: MediaStream {
  let frames = Recorder<String>()
  let handlers = MediaStreamHandlers()
  let streamId = "fake"
  let creationTime = Date()
  var mediaChannel: MediaChannel? { nil }
  var videoEnabled: Bool {
    get { true }
    set {}
  }
  var audioEnabled: Bool {
    get { true }
    set {}
  }
  var remoteAudioVolume: Double? {
    get { nil }
    set {}
  }
  var videoFilter: (any VideoFilter)? {
    get { nil }
    set {}
  }
  var videoRenderer: (any VideoRenderer)? {
    get { nil }
    set {}
  }

  func send(videoFrame: VideoFrame?) {
    guard let videoFrame else { return }
    frames.append("\(videoFrame.width)@\(videoFrame.timestamp?.value ?? 0)")
  }
  func send(audioFrame: AudioFrame) {}
  let source = RTCPeerConnectionFactory().videoSource()
  var videoSource: RTCVideoSource? { source }
  func send(encodedVideoFrame: EncodedFrame, codec: VideoCodecKind) {
    let key = encodedVideoFrame.isKeyFrame ? " key" : ""
    frames.append("\(codec) \(encodedVideoFrame.payload.count)\(key)")
  }
  func addAudioSink(_ sink: any AudioSink) {}
  func removeAudioSink(_ sink: any AudioSink) {}
  func addVideoSink(_ sink: any VideoSink) {}
  func addEncodedFrameSink(_ sink: any EncodedFrameSink) {}
  func removeEncodedFrameSink(_ sink: any EncodedFrameSink) {}
  func removeVideoSink(_ sink: any VideoSink) {}
  func terminate() {}
}
