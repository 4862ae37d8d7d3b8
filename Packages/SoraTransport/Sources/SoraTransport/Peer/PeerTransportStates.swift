import SoraICE

/// The states that a transport tells, and what they follow from. Changes nothing but itself, and tells its owner what to pass on.
struct PeerTransportStates {
  /// Of the whole path.
  private(set) var whole = PeerTransportState.new
  /// Of ICE alone.
  private(set) var ice = ICEConnectionState.new

  /// Returns whether the whole path's state is another than before.
  mutating func change(to state: PeerTransportState) -> Bool {
    guard whole != state else { return false }
    whole = state
    return true
  }

  /// Follows the agent's state.
  ///
  /// - Returns: ICE's state where it is another than before.
  mutating func follow(_ agent: ICEAgent, hasRestarted: Bool) -> ICEConnectionState? {
    switch (agent.state, ice) {
    case (.completed, _): change(iceTo: agent.isSearchComplete ? .completed : .connected)
    // W3C webrtc §5.6.4: a restart that begins while a path is in use looks for another beside it.
    case (.checking, .connected), (.checking, .completed):
      change(iceTo: agent.selectedPair == nil ? .disconnected : .connected)
    case (.checking, .disconnected) where !hasRestarted: nil
    default: change(iceTo: agent.state)
    }
  }

  /// Ends the whole: closes ICE with it, but where an error is the end.
  ///
  /// - Returns: ICE's state where it is another than before.
  mutating func end(as state: PeerTransportState) -> ICEConnectionState? {
    whole = state
    return state.failure == nil ? change(iceTo: .closed) : nil
  }

  private mutating func change(iceTo state: ICEConnectionState) -> ICEConnectionState? {
    guard ice != state else { return nil }
    ice = state
    return state
  }
}
