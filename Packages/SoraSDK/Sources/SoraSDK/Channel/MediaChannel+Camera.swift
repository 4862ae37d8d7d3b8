import Synchronization
import WebRTC

extension MediaChannel {
  private var usesCamera: Bool {
    configuration.role.sends && configuration.videoEnabled && configuration.cameraSettings.isEnabled
  }

  /// Has the camera that the configuration asks for send to the local stream. Returns at once.
  func startCamera(for stream: BasicMediaStream) {
    guard configuration.initialCameraEnabled else {
      stream.videoEnabled = false
      return
    }
    openCamera(for: stream)
  }

  private func openCamera(
    for stream: BasicMediaStream,
    completion: @escaping CameraVideoCapturer.CompletionHandler = { _ in }
  ) {
    guard usesCamera else { return completion(nil) }
    sora.cameras.start(
      configuration.cameraSettings, for: stream,
      while: { [weak self] in
        // The end of a channel comes after the change of its phase: it stops what is started before it.
        self?.storage.withLock { [.connecting, .connected].contains($0.phase) } ?? false
      }, completion: completion)
  }

  /// The stream that sends pictures; nil where none is sent.
  private var pictureSender: BasicMediaStream? {
    let stream = storage.withLock { state in
      state.streams.first { $0.streamId == configuration.publisherStreamId }
    }
    return stream?.native.videoTracks.isEmpty == false ? stream : nil
  }

  private var noPictures: any Error {
    SoraError.mediaChannelError(
      reason: "the channel sends no video; connect with a role that sends, and videoEnabled")
  }

  /// Sends black pictures, or those of the source again. The camera goes on, so that they are there at once. Of the iOS SDK 2026.1.
  ///
  /// - Parameter mute: whether black is sent.
  /// - Returns: nil where it worked; `SoraError.mediaChannelError` where the channel sends no video.
  @discardableResult
  public func setVideoSoftMute(_ mute: Bool) -> (any Error)? {
    guard let stream = pictureSender else { return noPictures }
    stream.videoEnabled = !mute
    return nil
  }

  /// Sends black pictures and stops the camera, or starts it again, by `Configuration.cameraSettings`. Returns when it has stopped or runs.
  /// Of the iOS SDK 2026.1.
  ///
  /// Frames of the app's own (`MediaStream.send(videoFrame:)`) are black meanwhile, too.
  ///
  /// - Parameter mute: whether black is sent.
  /// - Throws: `SoraError.mediaChannelError` where the channel sends no video, or why the camera couldn't be started.
  public func setVideoHardMute(_ mute: Bool) async throws {
    guard let stream = pictureSender else { throw noPictures }
    stream.videoEnabled = !mute
    if mute {
      stopCamera(in: [stream])
      await withCheckedContinuation { continuation in
        SoraDispatcher.async(on: .camera) { continuation.resume() }
      }
    } else {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        openCamera(for: stream) { error in
          if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
      }
    }
  }

  /// Stops the camera that sends to the local stream, the first thing that ends. Returns at once.
  func stopCamera(in streams: [BasicMediaStream]) {
    let local = streams.first { $0.streamId == configuration.publisherStreamId }
    guard usesCamera, let local else { return }
    sora.cameras.stop(sendingTo: local)
  }
}
