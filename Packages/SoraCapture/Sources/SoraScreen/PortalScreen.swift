/// A monitor or a window that the user chooses in a dialog of the desktop's own: what Wayland has in place of lists.
///
/// The desktop's portal is asked (`org.freedesktop.portal.ScreenCast` of xdg-desktop-portal), and PipeWire brings the frames. A
/// description: nobody is asked before it is captured.
public struct PortalScreen: Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable, CaseIterable {
    case monitor
    case window
  }

  /// How long the user's choice is kept by portals that can (version 4 of the interface), so that they needn't choose anew.
  public enum Persistence: Sendable, Hashable {
    case none
    /// As long as this process is connected to the portal.
    case whileRunning
    /// Until the user takes it back in the desktop's settings.
    case untilRevoked
  }

  /// What the user may choose from, as far as the desktop has it.
  public var kinds: Set<Kind>
  public var persistence: Persistence
  /// With which the choice that gave it is had again without a dialog; good for one time, after which there is another. nil to ask.
  public var restoreToken: String?
  /// The address of the D-Bus that the portal is on; nil for the session's.
  public var bus: String?

  public init(
    kinds: Set<Kind> = [.monitor], persistence: Persistence = .whileRunning,
    restoreToken: String? = nil, bus: String? = nil
  ) {
    self.kinds = kinds
    self.persistence = persistence
    self.restoreToken = restoreToken
    self.bus = bus
  }

  public var description: String {
    switch (kinds.contains(.monitor), kinds.contains(.window)) {
    case (true, false): "a monitor of the user's choice"
    case (false, true): "a window of the user's choice"
    default: "what the user chooses"
    }
  }
}

extension PortalScreen.Kind {
  /// The portal's number of it.
  var bit: UInt32 {
    switch self {
    case .monitor: 1
    case .window: 2
    }
  }
}

extension PortalScreen.Persistence {
  /// The portal's number of it.
  var mode: UInt32 {
    switch self {
    case .none: 0
    case .whileRunning: 1
    case .untilRevoked: 2
    }
  }
}
