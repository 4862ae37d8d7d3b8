import Synchronization
public import WebRTC

/// The SDK's front door: connects to channels of a Sora and knows those it has connected. Safe from any thread.
///
/// ```swift
/// import Foundation
/// import Sora
///
/// let url = URL(string: "wss://sora.example.com/signaling")!
/// let configuration = Configuration(url: url, channelId: "room", role: .recvonly)
/// do {
///   let channel = try await Sora.shared.connect(configuration: configuration)
///   for await event in channel.events { print(event) }
/// } catch {
///   print("not connected: \(error)")
/// }
/// ```
public final class Sora: Sendable {
  /// One for the whole process, which is all that most apps need.
  public static let shared = Sora()

  /// What this object tells about all of its channels.
  public let handlers = SoraHandlers()

  private let channels = Mutex<[MediaChannel]>([])
  let cameras: CameraVideoCapturer.Cameras
  let audio: AudioSession

  /// Another one, with channels and handlers of its own.
  ///
  /// The first of a process has the threads and the libraries that all connections share started, beside whatever the caller does
  /// next: an app that makes it a moment before `connect` connects some milliseconds sooner.
  public convenience init() { self.init(cameras: .shared) }

  /// - Parameters:
  ///   - cameras: what connections start one of.
  ///   - audio: the sound devices that connections use.
  package init(cameras: CameraVideoCapturer.Cameras, audio: AudioSession = .shared) {
    self.cameras = cameras
    self.audio = audio
    ProcessPreparation.begin()
  }

  /// Frees what the process shares. There is nothing to free on Linux; kept so that programs compile.
  public static func finish() {}

  /// The threshold of the SDK's log: `Logger.shared.level`.
  public static var logLevel: LogLevel {
    get { Logger.shared.level }
    set { Logger.shared.level = newValue }
  }

  /// Channels that are being connected or connected, oldest first.
  public var mediaChannels: [MediaChannel] { channels.withLock { $0 } }

  // MARK: Connecting

  /// Starts to connect to a channel, and returns at once.
  ///
  /// - Parameters:
  ///   - configuration: where to, as whom, and with what.
  ///   - webRTCConfiguration: used in place of `configuration.webRTCConfiguration`, unless it is as `init()` made it.
  ///   - handler: called exactly once, on its actor or on the channel's queue (`MediaChannelHandlers`): with the channel once media can
  ///     flow, or with the error that ended the attempt, mostly a `SoraError`.
  /// - Returns: the attempt, which can be cancelled.
  public func connect(
    configuration: Configuration, webRTCConfiguration: WebRTCConfiguration = WebRTCConfiguration(),
    handler: @escaping @isolated(any) (_ mediaChannel: MediaChannel?, _ error: (any Error)?) -> Void
  ) -> ConnectionTask {
    ProcessPreparation.connectionBegins()
    var configuration = configuration
    if !webRTCConfiguration.isDefault { configuration.webRTCConfiguration = webRTCConfiguration }
    let channel = MediaChannel(sora: self, configuration: configuration)
    channels.withLock { $0.append(channel) }
    let task = channel.prepare(Handler(handler))
    handlers.onAddMediaChannel?(channel)
    channel.start()
    return task
  }

  /// Connects to a channel. Cancelling the task cancels the attempt at once.
  ///
  /// Does and tells what `connect(configuration:webRTCConfiguration:handler:)` does.
  ///
  /// - Throws: what ended the attempt, mostly a `SoraError`; `SoraError.connectionCancelled` when it was cancelled.
  public func connect(
    configuration: Configuration, webRTCConfiguration: WebRTCConfiguration = WebRTCConfiguration()
  ) async throws -> MediaChannel {
    let attempt = Mutex<ConnectionTask?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let task = connect(
          configuration: configuration, webRTCConfiguration: webRTCConfiguration
        ) { @Sendable channel, error in
          if let channel {
            continuation.resume(returning: channel)
          } else {
            continuation.resume(throwing: error ?? SoraError.connectionCancelled)
          }
        }
        attempt.withLock { $0 = task }
        // Cancelled before there was anything to cancel.
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      attempt.withLock { $0 }?.cancel()
    }
  }

  func remove(_ channel: MediaChannel) {
    channels.withLock { $0.removeAll { $0 === channel } }
  }

  // MARK: Sound

  /// Which sound devices are used, and how. For the whole process. Linux only.
  ///
  /// At first no device is ever opened: a server has none, and a program may send frames of its own (`MediaStream.send(audioFrame:)`).
  /// Devices are used from when an app asks for them, by setting this, by `setAudioMode`, or by `audioEnabled` where it opens them by
  /// hand. Then the microphone is open while a connection sends sound, and the loudspeaker while others' streams are there, whose volumes are
  /// `MediaStream.remoteAudioVolume`. On a stream on which the app has sent a frame of its own, the microphone isn't sent any more.
  public var audioDeviceSettings: AudioDeviceSettings {
    get { audio.wishes.settings }
    set { audio.wish { $0.settings = newValue } }
  }

  /// Whether sound devices stay closed until `audioEnabled` opens them. For the whole process.
  public var usesManualAudio: Bool {
    get { audio.wishes.usesManualAudio }
    set { audio.wish { $0.usesManualAudio = newValue } }
  }

  /// Whether sound devices are open, where they are opened by hand (`usesManualAudio`) and a connection needs them. For the whole
  /// process. Setting it takes as long as the devices do; what keeps one from being opened is in the log.
  public var audioEnabled: Bool {
    get { audio.wishes.isEnabled }
    set {
      if let error = audio.wish({ $0.isEnabled = newValue }) {
        Logger.error(type: .mediaChannel, message: "a sound device isn't open: \(error)")
      }
    }
  }

  /// Whether somebody speaks into the microphone, by the last 10 ms that it heard; false while it is closed, and while
  /// `AudioProcessingSettings.voiceDetection` of `audioDeviceSettings` is off, as it is at first. For the whole process. Linux only.
  public var voiceDetected: Bool { audio.isVoiceDetected }

  /// What the sound devices that are open do: latency, buffers that ran empty, losses. For the whole process. Linux only.
  public var audioDeviceUse: AudioDeviceUse { audio.use }

  /// Told what happens to the sound devices. For the whole process. Linux only.
  ///
  /// It runs later on a queue of its own, told of one event after the other, and may use other devices: set `audioDeviceSettings`, or call
  /// `setAudioMode`.
  public var audioDeviceHandler: (@Sendable (AudioDeviceEvent) -> Void)? {
    get { audio.handler }
    set { audio.handler = newValue }
  }

  /// Runs `block` while nobody else changes the configuration of sound.
  public func configureAudioSession(block: () -> Void) { audio.configure(block) }

  /// Uses sound devices, for the whole process: connections that send sound open the microphone, those that receive it the loudspeaker,
  /// as the mode's category says; `videoChat` and `voiceChat` use both. Takes as long as the devices do.
  ///
  /// - Parameters:
  ///   - mode: `videoChat` plays on the loudspeaker (`AudioOutput.speaker`), as on iOS.
  ///   - options: of no effect on Linux, where the sound server routes.
  /// - Returns: why a device that is needed now can't be opened, mostly an `AudioDeviceError`; the mode counts all the same, and it is tried
  ///   again when streams come or go.
  public func setAudioMode(
    _ mode: AudioMode,
    options: AudioSessionCategoryOptions = [.allowBluetooth, .allowBluetoothA2DP, .allowAirPlay]
  ) -> Result<Void, any Error> {
    var failure: (any Error)?
    audio.configure { failure = audio.wish { $0.mode = mode } }
    return failure.map { .failure($0) } ?? .success(())
  }

  // MARK: Logs of the engine

  /// How much the layers below, such as the signaling client, say in the SDK's log. At first `info`.
  public static func setWebRTCLogLevel(_ severity: RTCLoggingSeverity) {
    SDKLogHandler.setThreshold(severity)
  }
}
