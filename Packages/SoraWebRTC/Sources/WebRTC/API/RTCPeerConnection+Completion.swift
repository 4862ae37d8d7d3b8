// The completion-handler spelling of the same calls. Handlers run on an arbitrary thread.
extension RTCPeerConnection {
  public func offer(
    for constraints: RTCMediaConstraints?,
    completionHandler: @escaping @Sendable (RTCSessionDescription?, (any Error)?) -> Void
  ) {
    complete(completionHandler) { try await $0.offer(for: constraints) }
  }

  public func answer(
    for constraints: RTCMediaConstraints?,
    completionHandler: @escaping @Sendable (RTCSessionDescription?, (any Error)?) -> Void
  ) {
    complete(completionHandler) { try await $0.answer(for: constraints) }
  }

  public func setLocalDescription(
    _ description: RTCSessionDescription,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    complete({ completionHandler($1) }) { try await $0.setLocalDescription(description) }
  }

  public func setRemoteDescription(
    _ description: RTCSessionDescription,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    complete({ completionHandler($1) }) { try await $0.setRemoteDescription(description) }
  }

  public func statistics(completionHandler: @escaping @Sendable (RTCStatisticsReport) -> Void) {
    Task { completionHandler(await statistics()) }
  }

  private func complete<Value: Sendable>(
    _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void,
    _ body: @escaping @Sendable (RTCPeerConnection) async throws -> Value
  ) {
    Task {
      do {
        handler(try await body(self), nil)
      } catch {
        handler(nil, error)
      }
    }
  }
}
