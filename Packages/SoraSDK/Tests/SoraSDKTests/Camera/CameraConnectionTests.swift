import Foundation
import SoraCamera
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// The camera that a connection starts and stops by itself.
@Suite(.timeLimit(.minutes(5))) struct CameraConnectionTests {
  /// A server that takes part in a call, and a connection to it that may use cameras.
  private struct Call {
    let far: FarEnd
    let server: ScriptedSora
    let system: FakeCameras
    let cameras: CameraVideoCapturer.Cameras
    let sora: Sora
    var configuration: Configuration

    init(_ system: FakeCameras = FakeCameras(), role: Role = .sendonly) async throws {
      let far = try await FarEnd(receives: role != .recvonly)
      server = try await ScriptedSora(far)
      self.far = far
      self.system = system
      cameras = CameraVideoCapturer.Cameras(system: system)
      sora = Sora(cameras: cameras)
      configuration = server.configuration(role)
      configuration.cameraSettings = .default
    }

    func connect() async throws -> MediaChannel {
      try await Attempt(configuration, face: .tasks, sora: sora).channel()
    }

    /// Waits until everything that was enqueued on the camera's queue has run.
    func settle() async {
      await withCheckedContinuation { continuation in
        SoraDispatcher.async(on: .camera) { continuation.resume() }
      }
    }
  }

  @Test func startsAndStops() async throws {
    let call = try await Call()
    let told = Recorder<String>()
    call.cameras.handlers.onStart = { told.append("onStart \($0.device.path)") }
    call.cameras.handlers.onStop = { told.append("onStop \($0.device.path)") }
    let channel = try await call.connect()
    await told.wait(for: 1)
    let capturer = try #require(call.cameras.current)
    #expect(capturer === call.cameras.capturer(for: .front))
    #expect(capturer.stream === channel.senderStream)
    let sink = PictureSink()
    let receiver = try #require(
      call.far.peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first)
    receiver.add(sink: sink)
    let camera = try #require(call.system.running("face"))
    let shooting = Task {
      while !Task.isCancelled {
        camera.shoot(width: 160)
        try await Task.sleep(for: .milliseconds(33))
      }
    }
    await sink.sizes.wait(for: 2)
    shooting.cancel()
    #expect(sink.sizes.elements.first == "160x36")
    await channel.disconnect()
    await told.wait(for: 2)
    #expect(!capturer.isRunning && capturer.stream == nil && call.cameras.current == nil)
    #expect(told.elements == ["onStart face", "onStop face"])
    #expect(call.system.log.elements == ["open face MJPG 1280x720@30", "close face"])
  }

  /// Off at first, on, black, and off again.
  @Test func softAndHardMute() async throws {
    var call = try await Call()
    call.configuration.initialCameraEnabled = false
    let channel = try await call.connect()
    await call.settle()
    let stream = try #require(channel.senderStream)
    #expect(call.system.log.elements.isEmpty && stream.hasVideoTrack && !stream.videoEnabled)
    try await channel.setVideoHardMute(false)
    #expect(call.system.running("face") != nil && stream.videoEnabled)
    #expect(channel.setVideoSoftMute(true) == nil)
    #expect(call.system.running("face") != nil && !stream.videoEnabled)
    #expect(channel.setVideoSoftMute(false) == nil)
    #expect(stream.videoEnabled)
    try await channel.setVideoHardMute(true)
    #expect(call.system.running("face") == nil && !stream.videoEnabled)
    #expect(call.system.log.elements == ["open face MJPG 1280x720@30", "close face"])
    let result = await withCheckedContinuation { continuation in
      channel.getStats { continuation.resume(returning: $0) }
    }
    #expect(try !result.get().entries.isEmpty)
    await channel.disconnect()
    let end = await withCheckedContinuation { continuation in
      channel.getStats { continuation.resume(returning: $0) }
    }
    #expect(throws: SoraError.self) { try end.get() }
  }

  @Test func channelsWithoutPicturesCanNotBeMuted() async throws {
    var call = try await Call()
    call.configuration.videoEnabled = false
    let channel = try await call.connect()
    #expect(channel.setVideoSoftMute(true) is SoraError)
    await #expect(throws: SoraError.self) { try await channel.setVideoHardMute(true) }
    await channel.disconnect()
  }

  @Test func settingsCount() async throws {
    var call = try await Call(role: .sendrecv)
    call.configuration.cameraSettings = CameraSettings(
      resolution: .vga480p, frameRate: 60, position: .back)
    let channel = try await call.connect()
    await call.system.log.wait(for: 1)
    #expect(call.system.log.elements == ["open world YUYV 640x480@30"])
    // The stream goes with the flip, and so the end stops the other camera.
    await call.settle()
    let back = try #require(call.cameras.current)
    await withCheckedContinuation { continuation in
      call.cameras.flip(back) { error in
        #expect(error == nil)
        continuation.resume()
      }
    }
    #expect(call.cameras.current?.device.path == "face")
    await channel.disconnect()
    await call.settle()
    #expect(call.cameras.current == nil)
    #expect(call.system.log.elements.last == "close face")
  }

  @Test(arguments: ["off", "no video", "receiver", "unspecified"]) func notAsked(
    _ way: String
  ) async throws {
    var call = try await Call(role: way == "receiver" ? .recvonly : .sendonly)
    switch way {
    case "off": call.configuration.cameraSettings.isEnabled = false
    case "no video": call.configuration.videoEnabled = false
    case "unspecified": call.configuration.cameraSettings.position = .unspecified
    default: break
    }
    let channel = try await call.connect()
    await call.settle()
    #expect(channel.state == .connected && call.cameras.current == nil)
    await channel.disconnect()
    await call.settle()
    #expect(call.system.log.elements.isEmpty)
  }

  /// A connection doesn't need a camera.
  @Test(arguments: ["none", "no back", "busy", "no format"]) func notThere(
    _ way: String
  ) async throws {
    let system =
      switch way {
      case "none": FakeCameras([])
      case "no back": FakeCameras(["face"])
      case "no format": FakeCameras(formats: [])
      default: FakeCameras()
      }
    if way == "busy" { system.refuse("face", with: .busy(path: "face")) }
    var call = try await Call(system)
    if way == "no back" { call.configuration.cameraSettings.position = .back }
    let channel = try await call.connect()
    await call.settle()
    #expect(channel.state == .connected && call.cameras.current == nil)
    #expect(call.cameras.capturer(for: .front)?.stream == nil)
    await channel.disconnect()
    #expect(system.log.elements.isEmpty)
  }

  @Test func unpluggedInACall() async throws {
    let call = try await Call()
    let stopped = Recorder<String>()
    call.cameras.handlers.onStop = { stopped.append($0.device.path) }
    let channel = try await call.connect()
    await call.system.log.wait(for: 1)
    await call.settle()
    let capturer = try #require(call.cameras.current)
    call.system.unplug("face")
    await stopped.wait(for: 1)
    #expect(channel.state == .connected && call.cameras.current == nil)
    #expect(capturer.stream === channel.senderStream, "for a restart")
    await channel.disconnect()
    await call.settle()
    #expect(capturer.stream == nil && stopped.elements == ["face"])
  }

  /// A second connection takes the camera over; the end of the first leaves it alone.
  @Test func twoConnections() async throws {
    let (first, second) = (try await Call(), try await Call())
    let a = try await first.connect()
    await first.settle()
    let b = try await Attempt(second.configuration, face: .tasks, sora: first.sora).channel()
    await first.settle()
    let capturer = try #require(first.cameras.current)
    #expect(capturer.stream === b.senderStream && capturer.stream !== a.senderStream)
    await a.disconnect()
    await first.settle()
    #expect(capturer.isRunning)
    await b.disconnect()
    await first.settle()
    #expect(!capturer.isRunning)
    #expect(
      first.system.log.elements == [
        "open face MJPG 1280x720@30", "close face", "open face MJPG 1280x720@30", "close face",
      ])
  }

  /// A capturer uses the camera that it runs with, and not the one that it is to have next.
  @Test func whatOthersRunWithIsLeftAlone() async throws {
    let call = try await Call()
    let other = try #require(call.cameras.capturer(for: .back))
    try await other.start(
      format: CameraFormat(pixelFormat: .mjpeg, width: 1280, height: 720), frameRate: 30)
    other.device = FakeCameras.device("face")
    let channel = try await call.connect()
    await call.system.log.wait { $0.contains { $0.hasPrefix("open face") } }
    await call.settle()
    #expect(other.isRunning && call.system.running("world") != nil)
    #expect(call.cameras.current === call.cameras.capturer(for: .front))
    await channel.disconnect()
    await call.settle()
    #expect(other.isRunning && call.system.running("face") == nil)
  }

  /// The connection's own, which runs with another camera, is taken over all the same.
  @Test func aCapturerWithAnotherDeviceIsTakenOver() async throws {
    let call = try await Call()
    let capturer = try #require(call.cameras.capturer(for: .front))
    try await capturer.start(
      format: CameraFormat(pixelFormat: .mjpeg, width: 1280, height: 720), frameRate: 30)
    capturer.device = FakeCameras.device("world")
    let channel = try await call.connect()
    await call.system.log.wait { $0.contains { $0.hasPrefix("open world") } }
    await call.settle()
    #expect(capturer.isRunning && capturer.stream === channel.senderStream)
    #expect(call.system.running("face") == nil)
    await channel.disconnect()
  }

  /// An attempt that fails after its camera was started.
  @Test func failedAttempt() async throws {
    var call = try await Call()
    let far = call.far
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer()) }
    }
    call.configuration = server.configuration()
    call.configuration.cameraSettings = .default
    let attempt = Attempt(call.configuration, face: .handlers, sora: call.sora)
    await call.system.log.wait(for: 1)
    attempt.cancel()
    _ = await attempt.story()
    await call.system.log.wait(for: 2)
    await call.settle()
    #expect(call.system.log.elements.last == "close face")
    #expect(call.cameras.current == nil)
  }
}
