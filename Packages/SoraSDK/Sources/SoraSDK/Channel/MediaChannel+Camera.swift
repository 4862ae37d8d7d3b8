import Synchronization

extension MediaChannel {
  private var usesCamera: Bool {
    configuration.role.sends && configuration.videoEnabled && configuration.cameraSettings.isEnabled
  }

  /// Has the camera that the configuration asks for send to the local stream. Returns at once.
  func startCamera(for stream: BasicMediaStream) {
    guard usesCamera else { return }
    sora.cameras.start(configuration.cameraSettings, for: stream) { [weak self] in
      // The end of a channel comes after the change of its phase: it stops what is started before it.
      self?.storage.withLock { [.connecting, .connected].contains($0.phase) } ?? false
    }
  }

  /// Stops the camera that sends to the local stream, the first thing that ends. Returns at once.
  func stopCamera(in streams: [BasicMediaStream]) {
    let local = streams.first { $0.streamId == configuration.publisherStreamId }
    guard usesCamera, let local else { return }
    sora.cameras.stop(sendingTo: local)
  }
}
