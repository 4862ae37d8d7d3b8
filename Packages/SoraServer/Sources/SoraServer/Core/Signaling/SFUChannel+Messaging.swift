import SoraMedia
import SoraSignalingMessages

extension SFUChannel {
  /// Hands a message of a member's to the others that receive on its label. Those of its bundle aren't among them.
  func distribute(
    _ payload: [UInt8], isText: Bool, on label: String, of sender: SFUConnection, at now: Instant
  ) {
    guard let channels = sender.signaling.channels, channels[label]?.direction != .recvonly else {
      sender.signaling.channels?.countMalformed()
      return
    }
    let message = MemberMessage(payload, isText: isText, of: sender.connectionID)
    for member in members
    where member !== sender && member.isConnected && member.bundleID != sender.bundleID {
      guard let channels = member.signaling.channels else { continue }
      channels.hand(message, on: label, at: now)
      member.core.touch(member)
    }
  }
}
