import Foundation
import Synchronization

/// The use of sound devices by a process, under libwebrtc's name. Linux has no audio session of its own: what these properties mean is up to
/// whoever opens devices, which is `Sora` of module `SoraSDK` (`Sora.usesManualAudio`, `Sora.audioEnabled`). In a program without it no
/// device is opened, and the properties keep what they are given.
///
/// Safe from any thread.
public final class RTCAudioSession: Sendable {
  /// What opens and closes devices; `use` tells the session of it.
  public protocol Devices: Sendable {
    var usesManualAudio: Bool { get nonmutating set }
    var isAudioEnabled: Bool { get nonmutating set }
  }

  private struct State: Sendable {
    var devices: (any Devices)?
    var usesManualAudio = false
    var isAudioEnabled = false
  }

  private static let shared = RTCAudioSession()

  private let state = Mutex(State())
  // Recursive, as libwebrtc's is.
  private let configuration = NSRecursiveLock()

  package init() {}

  /// The process's one session.
  public static func sharedInstance() -> RTCAudioSession { shared }

  /// Whether devices stay closed until `isAudioEnabled` opens them.
  public var useManualAudio: Bool {
    get {
      let (devices, kept) = state.withLock { ($0.devices, $0.usesManualAudio) }
      return devices?.usesManualAudio ?? kept
    }
    set {
      let devices = state.withLock { state in
        state.usesManualAudio = newValue
        return state.devices
      }
      devices?.usesManualAudio = newValue
    }
  }

  /// Whether devices are open with `useManualAudio`, where a connection needs them. Setting it takes as long as they do.
  public var isAudioEnabled: Bool {
    get {
      let (devices, kept) = state.withLock { ($0.devices, $0.isAudioEnabled) }
      return devices?.isAudioEnabled ?? kept
    }
    set {
      let devices = state.withLock { state in
        state.isAudioEnabled = newValue
        return state.devices
      }
      devices?.isAudioEnabled = newValue
    }
  }

  /// Waits until nobody else configures. To be followed by `unlockForConfiguration` on the same thread.
  public func lockForConfiguration() { configuration.lock() }

  /// Lets others configure.
  public func unlockForConfiguration() { configuration.unlock() }

  /// Has `devices` do what is asked for from now on.
  ///
  /// - Returns: what was asked for so far.
  public func use(_ devices: any Devices) -> (usesManualAudio: Bool, isAudioEnabled: Bool) {
    state.withLock { state in
      state.devices = devices
      return (state.usesManualAudio, state.isAudioEnabled)
    }
  }
}
