import SoraTransport

/// The way into a driver from other threads: an actor that runs on the driver's network loop.
actor PeerConnectionActor {
  nonisolated let loop: NetworkLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  private var driver: PeerConnectionDriver?

  init(loop: NetworkLoop) { self.loop = loop }

  /// Runs `body` with the driver, in the order of calls. From any thread.
  nonisolated func execute(_ body: @escaping @Sendable (PeerConnectionDriver) -> Void) {
    loop.execute {
      self.assumeIsolated { actor in
        if let driver = actor.driver { body(driver) }
      }
    }
  }

  /// Makes the driver; before anything else is done with the actor.
  nonisolated func start(_ make: @escaping @Sendable () -> sending PeerConnectionDriver) {
    loop.execute {
      self.assumeIsolated { actor in actor.driver = make() }
    }
  }

  /// Runs `body` on the loop and returns what it gives; nil after `close`.
  func run<Result: Sendable>(
    _ body: @Sendable (PeerConnectionDriver) throws -> Result
  ) throws -> Result? {
    guard let driver else { return nil }
    return try body(driver)
  }

  nonisolated func close() {
    loop.execute {
      self.assumeIsolated { actor in
        actor.driver?.close()
        actor.driver = nil
      }
    }
  }
}
