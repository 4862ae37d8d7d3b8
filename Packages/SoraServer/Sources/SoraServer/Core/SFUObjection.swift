import SoraSignalingMessages

/// Why a server can't accept a `connect`, fit for a close frame.
struct SFUObjection: Error {
  let reason: String

  init(reason: String) { self.reason = reason }

  /// A field that breaks its rule: `connect.audio.bit_rate` gives `INVALID-AUDIO` and what to send.
  init(_ error: SignalingError) {
    let key = error.field?.split(separator: ".").dropFirst().first?.prefix { $0 != "[" }
    reason = "INVALID-\(key?.uppercased() ?? "MESSAGE"): \(error.wayOut)"
  }
}
