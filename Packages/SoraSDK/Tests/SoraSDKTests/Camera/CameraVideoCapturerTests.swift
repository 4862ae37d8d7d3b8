import Foundation
import SoraCamera
import SoraMedia
import SoraSDK
import Testing
import WebRTC

/// A capturer's states, and who is told of them in which order.
@Suite(.timeLimit(.minutes(5))) struct CameraVideoCapturerTests {
  /// Cameras and a list of what was told.
  private struct Stage {
    let system: FakeCameras
    let cameras: CameraVideoCapturer.Cameras
    let told = Recorder<String>()

    init(_ system: FakeCameras = FakeCameras()) {
      self.system = system
      cameras = CameraVideoCapturer.Cameras(system: system)
      let (told, cameras) = (told, cameras)
      cameras.handlers.onStart = {
        told.append("onStart \($0.device.path) \(cameras.current === $0)")
      }
      cameras.handlers.onStop = { told.append("onStop \($0.device.path) \($0.isRunning)") }
    }

    /// A completion handler that notes when it ran and with what.
    func note(_ name: String) -> CameraVideoCapturer.CompletionHandler {
      { [told] in told.append("\(name) \($0.map { $0.localizedDescription } ?? "done")") }
    }

    /// Waits until everything that was enqueued on the camera's queue has run.
    func settle() async {
      await withCheckedContinuation { continuation in
        SoraDispatcher.async(on: .camera) { continuation.resume() }
      }
    }

    func capturer(_ position: CameraPosition = .front) throws -> CameraVideoCapturer {
      try #require(cameras.capturer(for: position))
    }

    func format(_ width: Int32, _ height: Int32, rate: Int? = nil) throws -> CameraFormat {
      try #require(
        cameras.format(
          width: width, height: height, for: FakeCameras.device("face"), frameRate: rate))
    }
  }

  @Test func startAndStop() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    #expect(capturer.position == .front && capturer.format == nil && capturer.frameRate == nil)
    #expect(try stage.capturer() === capturer, "a camera has one capturer")
    let format = try stage.format(640, 480)
    capturer.start(format: format, frameRate: 30, completionHandler: stage.note("start"))
    capturer.start(format: format, frameRate: 30, completionHandler: stage.note("again"))
    await stage.settle()
    #expect(capturer.isRunning && stage.cameras.current === capturer)
    #expect(capturer.format == format && capturer.frameRate == 30)
    capturer.stop(completionHandler: stage.note("stop"))
    capturer.stop(completionHandler: stage.note("again"))
    await stage.settle()
    #expect(!capturer.isRunning && stage.cameras.current == nil)
    #expect(capturer.format == format, "what restart starts with")
    #expect(
      stage.told.elements == [
        "start done", "onStart face true",
        "again Camera error (face (face) is running already; stop it first, or change its format)",
        "stop done", "onStop face false",
        "again Camera error (face (face) isn't running; start it first)",
      ])
    #expect(stage.system.log.elements == ["open face YUYV 640x480@30", "close face"])
  }

  @Test func restartAndChangeTellTheStartFirst() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    capturer.restart(completionHandler: stage.note("never started"))
    capturer.change(frameRate: 5, completionHandler: stage.note("not running"))
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    await stage.settle()
    capturer.restart(completionHandler: stage.note("restart"))
    capturer.change(frameRate: 15, completionHandler: stage.note("change"))
    try await capturer.change(format: stage.format(1280, 720, rate: 30))
    try await capturer.stop()
    capturer.restart(completionHandler: stage.note("restart"))
    await stage.settle()
    #expect(
      stage.told.elements == [
        "never started Camera error (face (face) was never started; start it with a format)",
        "not running Camera error (face (face) isn't running; start it first)",
        "onStart face true",
        "restart done", "onStart face true", "onStop face true",
        "change done", "onStart face true", "onStop face true",
        "onStart face true", "onStop face true",
        "onStop face false",
        "restart done", "onStart face true",
      ])
    #expect(
      stage.system.log.elements.filter { $0.hasPrefix("open") } == [
        "open face YUYV 640x480@30", "open face YUYV 640x480@30", "open face YUYV 640x480@15",
        "open face MJPG 1280x720@15", "open face MJPG 1280x720@15",
      ])
  }

  /// A camera that refuses a change goes on as before.
  @Test func refusedChange() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let small = try stage.format(640, 480)
    try await capturer.start(format: small, frameRate: 30)
    stage.system.refuse(
      "MJPG 1280x720", with: .formatRefused(wanted: "MJPG 1280x720", given: "less"))
    await #expect(throws: SoraError.self) {
      try await capturer.change(format: stage.format(1280, 720, rate: 30))
    }
    await stage.settle()
    #expect(capturer.isRunning && capturer.format == small)
    #expect(
      stage.told.elements == ["onStart face true", "onStart face true", "onStop face true"])
  }

  /// Another device counts from the next start: where it refuses, the camera that ran goes on.
  @Test(arguments: ["restart", "change"]) func refusedOtherDevice(_ way: String) async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let stream = FakeStream()
    capturer.stream = stream
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    capturer.device = FakeCameras.device("world")
    stage.system.refuse("world", with: .busy(path: "world"))
    await #expect(throws: SoraError.self) {
      if way == "restart" { try await capturer.restart() } else { try await capturer.change() }
    }
    await stage.settle()
    #expect(capturer.isRunning && stage.cameras.current === capturer)
    #expect(capturer.device == FakeCameras.device("world"))
    try #require(stage.system.running("face")).shoot(width: 48, at: Instant(nanoseconds: 7))
    await stream.frames.wait(for: 1)
    #expect(stream.frames.elements == ["48@7"])
    stage.system.refuse("world", with: nil)
    try await capturer.restart()
    #expect(stage.system.running("world") != nil && stage.system.running("face") == nil)
  }

  /// What is flipped is the camera that runs.
  @Test func flipFromTheCameraThatRuns() async throws {
    let stage = Stage()
    let capturer = CameraVideoCapturer(
      device: FakeCameras.device("face"), cameras: stage.cameras)
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    capturer.device = FakeCameras.device("world")
    stage.cameras.flip(capturer, completionHandler: stage.note("flip"))
    await stage.settle()
    #expect(stage.system.running("world") != nil && stage.system.running("face") == nil)
  }

  /// Frames that the camera has encoded go as they are, all of them; what the network wants reaches the camera.
  @Test func whatTheCameraEncodesIsSentAsItIs() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let stream = FakeStream()
    capturer.stream = stream
    let encoded = CameraFormat(pixelFormat: .h264, width: 1280, height: 720)
    try await capturer.start(format: encoded, frameRate: 30)
    let camera = try #require(stage.system.running("face"))
    camera.encode([1, 2, 3], isKeyFrame: true)
    camera.encode([4, 5], isKeyFrame: false)
    #expect(stream.frames.elements == ["H264 3 key", "H264 2"])
    #expect(stream.source.encodedFrameHandling == .transcodeWhereNeeded)
    stream.source.encodedFrameDelegate?.videoSourceNeedsKeyFrame(stream.source)
    stream.source.encodedFrameDelegate?.videoSource(stream.source, targetBitrateChanged: 700_000)
    #expect(stage.system.log.elements.suffix(2) == ["key frame", "rate 700000"])
    try await capturer.stop()
    camera.encode([6], isKeyFrame: false)
    #expect(stream.frames.elements.count == 2)
    #expect(stream.source.encodedFrameDelegate == nil, "the camera was let go")
  }

  @Test func whatCantBeSentIsRefused() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let unknown = CameraFormat(
      pixelFormat: try #require(CameraPixelFormat("ABCD")), width: 1280, height: 720)
    capturer.start(format: unknown, frameRate: 30, completionHandler: stage.note("2"))
    capturer.start(
      format: try stage.format(640, 480), frameRate: 0, completionHandler: stage.note("3"))
    await stage.settle()
    let told = stage.told.elements
    #expect(told.count == 2 && told[0].contains("can't be read"))
    #expect(told.last?.contains("0 frames per second") == true)
    #expect(!capturer.isRunning && stage.system.log.elements.isEmpty)
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    await #expect(throws: SoraError.self) { try await capturer.change(format: unknown) }
    #expect(capturer.isRunning)
    #expect(stage.system.log.elements.count == 1, "it wasn't even stopped")
  }

  @Test func busyCamera() async throws {
    let stage = Stage()
    stage.system.refuse("face", with: .busy(path: "face"))
    let capturer = try stage.capturer()
    capturer.start(
      format: try stage.format(640, 480), frameRate: 30, completionHandler: stage.note("start"))
    await stage.settle()
    #expect(!capturer.isRunning && capturer.format == nil)
    #expect(
      stage.told.elements == [
        "start Camera error (face is in use; end the other program that shows its pictures)"
      ])
  }

  @Test func flip() async throws {
    let stage = Stage()
    let (front, back) = (try stage.capturer(.front), try stage.capturer(.back))
    #expect(back.position == .back && stage.cameras.device(for: .unspecified) == nil)
    let stream = FakeStream()
    front.stream = stream
    stage.cameras.flip(front, completionHandler: stage.note("too early"))
    try await front.start(format: stage.format(1280, 720, rate: 30), frameRate: 30)
    await stage.settle()
    stage.cameras.flip(front, completionHandler: stage.note("flip"))
    await stage.settle()
    #expect(!front.isRunning && back.isRunning && stage.cameras.current === back)
    #expect(front.stream == nil && back.stream === stream)
    stage.system.running("world")?.shoot(width: 48, at: Instant(nanoseconds: 7))
    await stream.frames.wait(for: 1)
    #expect(stream.frames.elements == ["48@7"])
    // Back again, where it is refused: this one goes on.
    stage.system.refuse("face", with: .busy(path: "face"))
    stage.cameras.flip(back, completionHandler: stage.note("refused"))
    await stage.settle()
    #expect(back.isRunning && back.stream === stream && !front.isRunning)
    #expect(
      stage.told.elements == [
        "too early Camera error (face (face) isn't running; start it first)",
        "onStart face true",
        "flip done", "onStart world true", "onStop face false",
        "refused Camera error (face is in use; end the other program that shows its pictures)",
        "onStart world true", "onStop world true",
      ])
    #expect(stage.system.log.elements[2] == "open world MJPG 1280x720@30")
  }

  @Test func flipWithOneCamera() async throws {
    let stage = Stage(FakeCameras(["face"]))
    let capturer = try stage.capturer()
    #expect(stage.cameras.capturer(for: .back) == nil)
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    let error = await #expect(throws: SoraError.self) {
      try await withCheckedThrowingContinuation { continuation in
        stage.cameras.flip(capturer) { error in
          continuation.resume(with: error.map { .failure($0) } ?? .success(()))
        }
      }
    }
    #expect(error?.localizedDescription.contains("no camera but face") == true)
    #expect(capturer.isRunning)
  }

  @Test func framesReachTheStreamAsTheHandlerLeavesThem() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let stream = FakeStream()
    capturer.stream = stream
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    let camera = try #require(stage.system.running("face"))
    camera.shoot(at: Instant(nanoseconds: 1))
    await stream.frames.wait(for: 1)
    stage.cameras.handlers.onCapture = { from, frame in
      #expect(from === capturer)
      return VideoFrame(
        from: PixelBuffer(width: frame.width / 2, height: 18, format: .i420) { _ in },
        timestamp: Instant(nanoseconds: 3))
    }
    camera.shoot(at: Instant(nanoseconds: 2))
    await stream.frames.wait(for: 2)
    capturer.stream = nil
    camera.shoot()
    await stage.settle()
    capturer.stream = stream
    try await capturer.stop()
    camera.shoot()
    await stage.settle()
    #expect(stream.frames.elements == ["64@1", "32@3"])
  }

  /// Who is slow on the camera's queue gets the newest frame of those that came meanwhile.
  @Test func slowHandler() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let stream = FakeStream()
    capturer.stream = stream
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    let camera = try #require(stage.system.running("face"))
    await withCheckedContinuation { continuation in
      SoraDispatcher.async(on: .camera) {
        for number in 1...5 { camera.shoot(at: Instant(nanoseconds: Int64(number))) }
        continuation.resume()
      }
    }
    await stage.settle()
    #expect(stream.frames.elements == ["64@5"])
  }

  @Test func unplugged() async throws {
    let stage = Stage()
    let capturer = try stage.capturer()
    let stream = FakeStream()
    capturer.stream = stream
    let changes = Recorder<[String]>()
    let reader = Task { [changesOfCameras = stage.cameras.changes] in
      for await devices in changesOfCameras { changes.append(devices.map(\.name)) }
    }
    await changes.wait(for: 1)
    try await capturer.start(format: stage.format(640, 480), frameRate: 30)
    stage.system.unplug("face")
    await stage.told.wait(for: 2)
    #expect(!capturer.isRunning && stage.cameras.current == nil && capturer.stream === stream)
    #expect(stage.told.elements == ["onStart face true", "onStop face false"])
    #expect(capturer.position == .unspecified)
    #expect(try stage.capturer().device.name == "world", "it is the first one now")
    await changes.wait(for: 2)
    #expect(changes.elements == [["face", "world"], ["world"]])
    reader.cancel()
    await reader.value
    #expect(stage.system.watcherCount == 0)
  }

  @Test func formatsAndRates() throws {
    let stage = Stage()
    #expect(try stage.format(1280, 720) == stage.system.formats(of: FakeCameras.device("face"))[1])
    #expect(try stage.format(1280, 720, rate: 30).pixelFormat == .mjpeg)
    #expect(try stage.format(1, 1, rate: 99).width == 640)
    let nobody = FakeCameras.device("nobody")
    #expect(stage.cameras.format(width: 1, height: 1, for: nobody, frameRate: nil) == nil)
    let slow = CameraFormat(
      pixelFormat: .yuyv, width: 64, height: 36, frameRateRanges: [5...5, 7.5...7.5])
    #expect(CameraVideoCapturer.maxFrameRate(5, for: slow) == 5)
    #expect(CameraVideoCapturer.maxFrameRate(30, for: slow) == 8)
    #expect(CameraVideoCapturer.maxFrameRate(0, for: slow) == nil)
    let silent = CameraFormat(pixelFormat: .yuyv, width: 64, height: 36)
    #expect(CameraVideoCapturer.maxFrameRate(25, for: silent) == 25)
    #expect(CameraVideoCapturer.maxFrameRate(.max, for: silent) == .max)
    #expect(CameraVideoCapturer.maxFrameRate(.max, for: slow) == 8)
  }

  /// What apps write: the machine's cameras, whatever there are.
  @Test func thisMachine() {
    #expect(CameraVideoCapturer.device(for: .unspecified) == nil)
    #expect(CameraVideoCapturer.front?.device == CameraVideoCapturer.devices.first)
    #expect(CameraVideoCapturer.device(for: .front) == CameraVideoCapturer.devices.first)
    let capturer = CameraVideoCapturer(device: FakeCameras.device("/dev/null"))
    #expect(!capturer.isRunning && capturer.position == .unspecified && capturer.stream == nil)
  }
}
