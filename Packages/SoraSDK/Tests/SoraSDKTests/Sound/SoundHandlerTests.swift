import Dispatch
import SoraAudioDevices
import SoraAudioProcessing
import SoraMedia
import SoraSDK
import Synchronization
import Testing

/// What an app may do where it is told of sound devices.
@Suite(.timeLimit(.minutes(2))) struct SoundHandlerTests {
  /// Which closes them, and waits for their threads.
  @Test func devicesAreChangedWhereALossIsTold() async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let system = ThreadedSound()
    let sora = Sora(
      cameras: CameraVideoCapturer.Cameras(system: FakeCameras([])),
      audio: AudioSession(system: system))
    let told = Recorder<AudioDeviceEvent>()
    sora.audioDeviceHandler = { [weak sora] event in
      sora?.audioDeviceSettings = .off
      told.append(event)
    }
    sora.audioDeviceSettings = AudioDeviceSettings(processing: .off)
    let channel = try await Attempt(server.configuration(), face: .tasks, sora: sora).channel()
    await system.opened.wait(for: 1)
    try #require(system.opened.elements.first).unplug()
    await told.wait(for: 1)
    #expect(told.elements == [.lost(.input, .unplugged(device: "webcam"))])
    #expect(sora.audioDeviceUse.microphone == nil)
    await channel.disconnect()
  }
}

/// A machine whose only sound device is a microphone.
private final class ThreadedSound: SoundSystem {
  let opened = Recorder<ThreadedMicrophone>()

  func devices() throws(AudioDeviceError) -> [AudioDevice] { [] }

  func openMicrophone(
    _ device: AudioDevice?, title: String, deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    let microphone = ThreadedMicrophone(notify)
    opened.append(microphone)
    return microphone
  }

  func openSpeaker(
    _ device: AudioDevice?, title: String, fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound { throw .unplugged(device: "none") }

  func makeProcessor(
    _ settings: AudioProcessingSettings
  ) throws(AudioProcessingError) -> any SoundProcessor { throw .noLibrary }
}

/// As a real one, it tells on a thread of its own, and is closed when that has ended.
private final class ThreadedMicrophone: OpenSound {
  let statistics = AudioStreamStatistics()
  private let notify: @Sendable (AudioStreamEvent) -> Void
  private let running = DispatchGroup()
  private let end = DispatchSemaphore(value: 0)
  private let isUnplugged = Mutex(false)

  init(_ notify: @escaping @Sendable (AudioStreamEvent) -> Void) {
    self.notify = notify
    DispatchQueue(label: "microphone").async(group: running) { [self] in
      end.wait()
      if isUnplugged.withLock({ $0 }) { self.notify(.lost(.unplugged(device: "webcam"))) }
    }
  }

  func unplug() {
    isUnplugged.withLock { $0 = true }
    end.signal()
  }

  func stop() {
    end.signal()
    running.wait()
  }
}
