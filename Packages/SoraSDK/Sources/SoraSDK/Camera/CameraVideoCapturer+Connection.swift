import Foundation
import SoraCamera

/// What connections do with cameras by themselves.
extension CameraVideoCapturer.Cameras {
  /// Starts the camera that a connection asks for, and sends its frames to a stream. Returns at once; what goes wrong is logged.
  ///
  /// A camera that runs already is taken over.
  ///
  /// - Parameters:
  ///   - isWanted: asked on the camera's queue, before anything is opened.
  ///   - completion: told on that queue how it went, once it has been logged.
  func start(
    _ settings: CameraSettings, for stream: any MediaStream,
    while isWanted: @escaping @Sendable () -> Bool,
    completion: @escaping CameraVideoCapturer.CompletionHandler = { _ in }
  ) {
    perform { [self] () throws(SoraError) in
      guard isWanted() else { return .init() }
      guard settings.position != .unspecified else {
        throw .cameraError(
          reason: "cameraSettings.position is unspecified; name front or back")
      }
      guard let capturer = capturer(for: settings.position) else {
        if settings.asksForDefault {
          // Most servers have none, and send frames of their own.
          Logger.info(type: .cameraVideoCapturer, message: "this machine has no camera to start")
          return .init()
        }
        throw .cameraError(
          reason: "there is no \(settings.position) camera; only those count that may be opened")
      }
      let choice = try choice(
        on: capturer.device, width: Int(settings.resolution.width),
        height: Int(settings.resolution.height), frameRate: settings.frameRate,
        codec: settings.prefersEncoded ? stream.mediaChannel?.configuration.videoCodec.kind : nil)
      let outcome: CameraVideoCapturer.Outcome
      if let user = capturer.isRunning ? capturer : user(of: capturer.device) {
        outcome = try exchange(user, for: capturer, choice)
      } else {
        try capturer.begin(choice)
        outcome = .init(started: capturer)
      }
      if outcome.error == nil { capturer.stream = stream }
      return outcome
    } then: { error in
      defer { completion(error) }
      guard let error else { return }
      let reason = error.localizedDescription
      Logger.error(
        type: .cameraVideoCapturer,
        message: "no camera was started, the connection goes on without: \(reason)")
    }
  }

  /// Stops the cameras that send to a stream, and takes it away from them. Returns at once.
  func stop(sendingTo stream: any MediaStream) {
    SoraDispatcher.async(on: .camera) { [self] in
      for capturer in senders(to: stream) {
        let isStopped = (try? capturer.halt()) != nil
        capturer.stream = nil
        if isStopped { handlers.onStop?(capturer) }
      }
    }
  }
}

extension CameraSettings {
  /// Whether nothing is asked of a camera but what happens anyway.
  var asksForDefault: Bool {
    let other = CameraSettings.default
    return resolution == other.resolution && frameRate == other.frameRate
      && position == other.position
  }
}
