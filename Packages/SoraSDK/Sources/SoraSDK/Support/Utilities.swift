import Dispatch
public import Foundation
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
    private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

    /// - Parameter handler: gets `HH:MM:SS`, on the main queue.
    public init(handler: @escaping @Sendable (String) -> Void) { self.handler = handler }

    public func run() {
      stop()
      let start = DispatchTime.now()
      let source = DispatchSource.makeTimerSource(queue: .main)
      source.schedule(deadline: start + 1, repeating: 1)
      source.setEventHandler { [handler] in
        let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        let seconds = Int((Double(elapsed) / 1e9).rounded())
        handler(
          String(format: "%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60))
      }
      timer.withLock { $0 = source }
      source.resume()
    }

    public func stop() {
      timer.withLock {
        $0?.cancel()
        $0 = nil
      }
    }
  }
}

/// The serial queues that capture and sound run on.
public enum SoraDispatcher: Sendable {
  case camera
  case audio

  private static let cameraQueue = DispatchQueue(label: "sora.camera")
  private static let audioQueue = DispatchQueue(label: "sora.audio")

  /// Runs `block` later on the named queue.
  public static func async(on queue: SoraDispatcher, block: @escaping @Sendable () -> Void) {
    switch queue {
    case .camera: cameraQueue.async(execute: block)
    case .audio: audioQueue.async(execute: block)
    }
  }
}
