import Dispatch
import Foundation
import SoraAudio
import SoraAudioDevices
import SoraAudioProcessing
import SoraMedia
import Synchronization
import WebRTC

/// A stream as sound devices see it.
protocol SoundStream: AnyObject, Sendable {
  /// Sends what the microphone hears, unless the app sends sound of its own.
  func sendCaptured(_ audioFrame: AudioFrame)
  func addAudioSink(_ sink: any AudioSink)
  func removeAudioSink(_ sink: any AudioSink)
}

/// The sound devices of a process, with what channels send of a microphone and have played. Tests make one with devices of their own.
///
/// Devices are open while an app wants them (`SoundWishes`) and a channel needs them. They are opened and closed on the queue of
/// `SoraDispatcher.audio`.
package final class AudioSession: Sendable {
  package static let shared: AudioSession = {
    let session = AudioSession(system: MachineSound())
    let asked = RTCAudioSession.sharedInstance().use(ManualSound(session: session))
    session.state.withLock {
      $0.wishes.usesManualAudio = asked.usesManualAudio
      $0.wishes.isEnabled = asked.isAudioEnabled
    }
    return session
  }()

  fileprivate struct Open: Sendable {
    var choice: SoundWishes.Choice
    var device: any OpenSound
  }

  private struct Sender: Sendable {
    var stream: any SoundStream
    /// Hard: the microphone is closed where nobody else needs it.
    var isMuted = false
    /// The app sends frames of its own.
    var isFed = false

    var needsMicrophone: Bool { !isMuted && !isFed }
  }

  private struct Receiver: Sendable {
    var stream: any SoundStream
    /// While a loudspeaker is open.
    var sink: MixerSink?
  }

  private struct State: Sendable {
    var wishes = SoundWishes()
    var senders: [Sender] = []
    var receivers: [Receiver] = []
    var microphone: Open?
    var speaker: Open?
    var processor: (any SoundProcessor)?
    var isVoiceDetected = false
    var handler: (@Sendable (AudioDeviceEvent) -> Void)?

    /// What is to be open.
    var plan: (microphone: SoundWishes.Choice?, speaker: SoundWishes.Choice?) {
      (
        senders.contains(where: \.needsMicrophone) ? wishes.microphone : nil,
        receivers.isEmpty ? nil : wishes.speaker
      )
    }
  }

  private let system: any SoundSystem
  private let mixer = AudioMixer(channels: 2)
  private let state = Mutex(State())
  // Recursive: the block of `configure` may call `Sora.setAudioMode`.
  private let configuration = NSRecursiveLock()
  // Who is told may have a device closed, which waits for the device's thread.
  private let telling = DispatchQueue(label: "sora.audio.events")

  package init(system: any SoundSystem) { self.system = system }

  var wishes: SoundWishes { state.withLock { $0.wishes } }

  /// Whether somebody spoke in the last 10 ms that the microphone heard.
  var isVoiceDetected: Bool { state.withLock { $0.isVoiceDetected } }

  /// Told what happens to the devices, on a queue of its own.
  var handler: (@Sendable (AudioDeviceEvent) -> Void)? {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  /// What the devices that are open do.
  var use: AudioDeviceUse {
    let (microphone, speaker, inputs) = state.withLock { state in
      (
        state.microphone?.device, state.speaker?.device,
        state.receivers.compactMap { $0.sink?.input.statistics }
      )
    }
    var use = AudioDeviceUse()
    use.microphone = microphone?.statistics
    use.speaker = speaker?.statistics
    use.underruns = inputs.reduce(0) { $0 + $1.underruns }
    if let latency = use.speaker?.latency, let delay = inputs.map(\.delay).max() {
      use.playoutLatency = latency + delay
    }
    return use
  }

  /// Runs `body` while nobody else configures.
  func configure(_ body: () -> Void) {
    configuration.lock()
    defer { configuration.unlock() }
    body()
  }

  /// Changes what the app wants, and has the devices follow.
  ///
  /// - Returns: why a device that is needed now isn't open.
  @discardableResult
  func wish(_ body: (inout SoundWishes) -> Void) -> (any Error)? {
    state.withLock { body(&$0.wishes) }
    return followNow()
  }

  // MARK: Streams

  /// A local stream that a microphone may be sent on, until it is removed.
  func add(sender stream: any SoundStream, isMuted: Bool = false) {
    state.withLock { $0.senders.append(Sender(stream: stream, isMuted: isMuted)) }
    follow()
  }

  /// A stream of others, until it is removed.
  func add(receiver stream: any SoundStream) {
    state.withLock { $0.receivers.append(Receiver(stream: stream)) }
    follow()
  }

  func remove(_ streams: [any SoundStream]) {
    let sinks = state.withLock { state in
      state.senders.removeAll { sender in streams.contains { $0 === sender.stream } }
      let gone = state.receivers.filter { one in streams.contains { $0 === one.stream } }
      state.receivers.removeAll { one in streams.contains { $0 === one.stream } }
      return gone.compactMap { one in one.sink.map { (one.stream, $0) } }
    }
    for (stream, sink) in sinks { detach(sink, from: stream) }
    follow()
  }

  /// The app sends frames of its own on a stream: the microphone's don't go there any more.
  func isFed(_ stream: any SoundStream) {
    change(stream) { $0.isFed = true }
    follow()
  }

  /// - Returns: why a microphone that is needed now isn't open.
  func mute(_ isMuted: Bool, _ stream: any SoundStream) -> (any Error)? {
    change(stream) { $0.isMuted = isMuted }
    return followNow()
  }

  private func change(_ stream: any SoundStream, _ body: (inout Sender) -> Void) {
    state.withLock { state in
      for index in state.senders.indices where state.senders[index].stream === stream {
        body(&state.senders[index])
      }
    }
  }

  // MARK: On the queue

  /// Has the devices follow, later.
  private func follow() {
    SoraDispatcher.async(on: .audio) { [self] in
      guard let error = update() else { return }
      Logger.error(
        type: .mediaChannel, message: "a sound device isn't open, the connection goes on: \(error)")
    }
  }

  private func followNow() -> (any Error)? { SoraDispatcher.audioSync { update() } }

  private func update() -> (any Error)? {
    let plan = state.withLock { $0.plan }
    var failure: (any Error)?
    let closed = state.withLock { state in
      (state.microphone.take(unless: plan.microphone), state.speaker.take(unless: plan.speaker))
    }
    closed.0?.device.stop()
    if closed.0 != nil { state.withLock { $0.isVoiceDetected = false } }
    closed.1?.device.stop()
    if closed.1 != nil { detachAll() }
    if let choice = plan.speaker, state.withLock({ $0.speaker == nil }) {
      do throws(AudioDeviceError) {
        try openSpeaker(choice)
      } catch {
        tell(.refused(.output, error))
        failure = error
      }
    }
    if state.withLock({ $0.speaker != nil }) { attachAll() }
    prepareProcessor(for: plan.microphone)
    if let choice = plan.microphone, state.withLock({ $0.microphone == nil }) {
      do throws(AudioDeviceError) {
        try openMicrophone(choice)
      } catch {
        tell(.refused(.input, error))
        failure = failure ?? error
      }
    }
    return failure
  }

  private func openMicrophone(_ choice: SoundWishes.Choice) throws(AudioDeviceError) {
    let device = try choice.device(.input) { () throws(AudioDeviceError) in try system.devices() }
    let open = try system.openMicrophone(
      device, title: wishes.settings.title, deliver: { [weak self] in self?.captured($0) },
      notify: { [weak self] in self?.tell($0, .input) })
    state.withLock { $0.microphone = Open(choice: choice, device: open) }
  }

  private func openSpeaker(_ choice: SoundWishes.Choice) throws(AudioDeviceError) {
    let device = try choice.device(.output) { () throws(AudioDeviceError) in try system.devices() }
    let open = try system.openSpeaker(
      device, title: wishes.settings.title, fill: { [weak self] in self?.fill(&$0) },
      notify: { [weak self] in self?.tell($0, .output) })
    state.withLock { $0.speaker = Open(choice: choice, device: open) }
  }

  /// Has the processor do what is wanted now; none where nothing is, or where the library is missing.
  private func prepareProcessor(for microphone: SoundWishes.Choice?) {
    let (processor, settings) = state.withLock { state in
      var settings = state.wishes.settings.processing
      if state.speaker == nil { settings.echoCancellation = false }
      return (state.processor, microphone == nil ? .off : settings)
    }
    guard settings != .off else { return state.withLock { $0.processor = nil } }
    do throws(AudioProcessingError) {
      if let processor { return try processor.apply(settings) }
      let new = try system.makeProcessor(settings)
      state.withLock { $0.processor = new }
    } catch {
      Logger.warn(
        type: .mediaChannel, message: "the microphone's sound is sent as it is: \(error)")
      tell(.unprocessed(error))
    }
  }

  private func attachAll() {
    let added = state.withLock { state in
      state.receivers.indices.compactMap { index -> (any SoundStream, MixerSink)? in
        guard state.receivers[index].sink == nil else { return nil }
        let sink = MixerSink(mixer.makeInput(), of: self)
        state.receivers[index].sink = sink
        return (state.receivers[index].stream, sink)
      }
    }
    for (stream, sink) in added { stream.addAudioSink(sink) }
  }

  private func detachAll() {
    let removed = state.withLock { state in
      state.receivers.indices.compactMap { index -> (any SoundStream, MixerSink)? in
        guard let sink = state.receivers[index].sink else { return nil }
        state.receivers[index].sink = nil
        return (state.receivers[index].stream, sink)
      }
    }
    for (stream, sink) in removed { detach(sink, from: stream) }
  }

  private func detach(_ sink: MixerSink, from stream: any SoundStream) {
    stream.removeAudioSink(sink)
    mixer.remove(sink.input)
  }

  /// From the mixer to the ear; nil where no loudspeaker is open, or where it is unknown.
  fileprivate var speakerLatency: Duration? {
    state.withLock { $0.speaker }?.device.statistics.latency
  }

  // MARK: On the devices' threads

  private func captured(_ frame: AudioFrame) {
    let (senders, processor, delay) = state.withLock { state in
      (
        state.senders.filter(\.needsMicrophone).map(\.stream), state.processor,
        (state.microphone?.device, state.speaker?.device)
      )
    }
    var frame = frame
    let isVoice = processor?.clean(
      &frame,
      delay: (delay.0?.statistics.latency ?? .milliseconds(20))
        + (delay.1?.statistics.latency ?? .milliseconds(40)))
    state.withLock { $0.isVoiceDetected = isVoice ?? false }
    for stream in senders { stream.sendCaptured(frame) }
  }

  private func fill(_ frame: inout AudioFrame) {
    mixer.read(into: &frame)
    state.withLock { $0.processor }?.willPlay(frame)
  }

  private func tell(_ event: AudioStreamEvent, _ direction: AudioDevice.Direction) {
    let kind = direction == .input ? "microphone" : "loudspeaker"
    switch event {
    case .lost(let error):
      Logger.warn(type: .mediaChannel, message: "the \(kind) is lost until it is back: \(error)")
      tell(.lost(direction, error))
    case .restored:
      Logger.info(type: .mediaChannel, message: "the \(kind) is back")
      tell(.restored(direction))
    }
  }

  private func tell(_ event: AudioDeviceEvent) {
    telling.async { [self] in handler?(event) }
  }
}

extension Optional where Wrapped == AudioSession.Open {
  /// Gives away what is open, unless it is what is wanted.
  fileprivate mutating func take(unless choice: SoundWishes.Choice?) -> Wrapped? {
    guard let open = self, open.choice != choice else { return nil }
    self = nil
    return open
  }
}

/// Brings a received track to the mixer.
private final class MixerSink: LoudspeakerSink {
  let input: AudioMixer.Input
  private let session: AudioSession

  init(_ input: AudioMixer.Input, of session: AudioSession) {
    self.input = input
    self.session = session
  }

  func receive(_ frame: AudioFrame) { input.push(frame) }

  var playoutLatency: Duration? { session.speakerLatency.map { $0 + input.statistics.delay } }
}

/// What libwebrtc's name for all this switches.
private struct ManualSound: RTCAudioSession.Devices {
  let session: AudioSession

  var usesManualAudio: Bool {
    get { session.wishes.usesManualAudio }
    nonmutating set { session.wish { $0.usesManualAudio = newValue } }
  }

  var isAudioEnabled: Bool {
    get { session.wishes.isEnabled }
    nonmutating set { session.wish { $0.isEnabled = newValue } }
  }
}
