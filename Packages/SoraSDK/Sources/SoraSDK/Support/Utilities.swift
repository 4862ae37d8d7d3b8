import Dispatch
import Foundation
import Synchronization

/// Small helpers of the iOS SDK.
public enum Utilities {
  /// Random text of digits and letters, without those that look alike (`l`, `I`, `O`).
  public static func randomString(length: Int = 8) -> String {
    let alphabet = Array("0123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ")
    return String((0..<max(0, length)).compactMap { _ in alphabet.randomElement() })
  }

  /// Says every second how long it has been running.
  public final class Stopwatch: Sendable {
    private let handler: @Sendable (String) -> Void
    /// Counts runs; ticks of an earlier run do nothing.
    private let current = Mutex(0)

    /// - Parameter handler: gets `HH:MM:SS`, on the main queue.
    public init(handler: @escaping @Sendable (String) -> Void) { self.handler = handler }

    /// Starts from zero.
    public func run() {
      let run = current.withLock { current in
        current += 1
        return current
      }
      tick(1, of: run, since: DispatchTime.now())
    }

    /// Stops; `run` starts anew.
    public func stop() { current.withLock { $0 += 1 } }

    private func tick(_ second: Int, of run: Int, since start: DispatchTime) {
      // Counted from the start, so that late ticks don't add up.
      DispatchQueue.main.asyncAfter(deadline: start + .seconds(second)) { [weak self] in
        guard let self, current.withLock({ $0 }) == run else { return }
        handler(
          String(format: "%02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60))
        tick(second + 1, of: run, since: start)
      }
    }
  }
}

/// The serial queues that capture and sound run on.
public enum SoraDispatcher: Sendable {
  case camera
  case audio

  private static let cameraQueue = DispatchQueue(label: "sora.camera")
  private static let audioQueue: DispatchQueue = {
    let queue = DispatchQueue(label: "sora.audio")
    queue.setSpecific(key: isAudio, value: true)
    return queue
  }()
  private static let isAudio = DispatchSpecificKey<Bool>()

  /// Runs `body` on the audio queue and waits for it; at once where it is called from there.
  static func audioSync<Value>(_ body: () -> Value) -> Value {
    DispatchQueue.getSpecific(key: isAudio) == true ? body() : audioQueue.sync(execute: body)
  }

  /// Runs `block` later on the named queue.
  public static func async(on queue: SoraDispatcher, block: @escaping @Sendable () -> Void) {
    switch queue {
    case .camera: cameraQueue.async(execute: block)
    case .audio: audioQueue.async(execute: block)
    }
  }
}
