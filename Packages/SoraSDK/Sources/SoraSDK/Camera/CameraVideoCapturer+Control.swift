public import SoraCamera

/// Starting, stopping and changing, with completion handlers and as `async` functions.
extension CameraVideoCapturer {
  /// Opens the camera and starts it. An error where it runs already.
  ///
  /// - Parameters:
  ///   - format: one of the device's. H.264 and H.265 are sent without encoding them again, where that codec was negotiated.
  ///   - frameRate: frames per second; the camera takes the nearest that it has.
  ///   - completionHandler: told nil, or why the camera doesn't run, on the camera's queue.
  public func start(
    format: CameraFormat, frameRate: Int, completionHandler: @escaping CompletionHandler
  ) {
    cameras.perform { [self] () throws(SoraError) in
      try begin(CameraChoice(format: format, frameRate: frameRate))
      return Outcome(started: self)
    } then: {
      completionHandler($0)
    }
  }

  /// Stops the camera and closes it. An error where it doesn't run.
  public func stop(completionHandler: @escaping CompletionHandler) {
    cameras.perform { [self] () throws(SoraError) in
      try halt()
      return Outcome(stopped: self)
    } then: {
      completionHandler($0)
    }
  }

  /// Starts the camera with what it was started with last; stops it first where it runs. An error where it never ran.
  public func restart(completionHandler: @escaping CompletionHandler) {
    cameras.perform { [self] () throws(SoraError) in
      guard let choice else {
        throw .cameraError(reason: "\(device) was never started; start it with a format")
      }
      if isRunning { return try cameras.exchange(self, for: self, choice) }
      try begin(choice)
      return Outcome(started: self)
    } then: {
      completionHandler($0)
    }
  }

  /// Stops the camera and starts it with another format, another rate or both; nil stands for the present one. An error where it doesn't
  /// run. A camera that refuses goes on as before.
  public func change(
    format: CameraFormat? = nil, frameRate: Int? = nil,
    completionHandler: @escaping CompletionHandler
  ) {
    cameras.perform { [self] () throws(SoraError) in
      guard isRunning, let choice else {
        throw .cameraError(reason: "\(device) isn't running; start it first")
      }
      let new = try CameraChoice(
        format: format ?? choice.format, frameRate: frameRate ?? choice.frameRate)
      return try cameras.exchange(self, for: self, new)
    } then: {
      completionHandler($0)
    }
  }

  /// The same as `start(format:frameRate:completionHandler:)`. Linux only.
  public func start(format: CameraFormat, frameRate: Int) async throws {
    try await Self.result { start(format: format, frameRate: frameRate, completionHandler: $0) }
  }

  /// The same as `stop(completionHandler:)`. Linux only.
  public func stop() async throws {
    try await Self.result { stop(completionHandler: $0) }
  }

  /// The same as `restart(completionHandler:)`. Linux only.
  public func restart() async throws {
    try await Self.result { restart(completionHandler: $0) }
  }

  /// The same as `change(format:frameRate:completionHandler:)`. Linux only.
  public func change(format: CameraFormat? = nil, frameRate: Int? = nil) async throws {
    try await Self.result { change(format: format, frameRate: frameRate, completionHandler: $0) }
  }

  static func result(_ operation: (@escaping CompletionHandler) -> Void) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      operation { error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume()
        }
      }
    }
  }
}
