import Synchronization
import Testing
import WebRTC

@Suite struct RTCAudioSessionTests {
  private final class Devices: RTCAudioSession.Devices {
    private let state = Mutex((manual: false, enabled: false))

    var usesManualAudio: Bool {
      get { state.withLock { $0.manual } }
      set { state.withLock { $0.manual = newValue } }
    }
    var isAudioEnabled: Bool {
      get { state.withLock { $0.enabled } }
      set { state.withLock { $0.enabled = newValue } }
    }
  }

  @Test func keepsWhatIsAskedForUntilThereAreDevices() {
    let session = RTCAudioSession()
    session.useManualAudio = true
    #expect(session.useManualAudio && !session.isAudioEnabled)
    let devices = Devices()
    let asked = session.use(devices)
    #expect(asked == (true, false))
    session.isAudioEnabled = true
    #expect(devices.isAudioEnabled)
    devices.isAudioEnabled = false
    #expect(!session.isAudioEnabled)
    // The lock is recursive.
    session.lockForConfiguration()
    session.lockForConfiguration()
    session.unlockForConfiguration()
    session.unlockForConfiguration()
  }
}
