/// What a network address translator does, in the terms of RFC 4787.
///
/// The four presets are the kinds that RFC 3489 §5 named; everything between them can be put together.
public struct NATBehaviour: Sendable, Equatable {
  /// How much of the far end's address a mapping or a filter looks at (RFC 4787 §4.1 and §5).
  public enum Dependence: String, Sendable, CaseIterable {
    case endpointIndependent, addressDependent, addressAndPortDependent
  }

  /// Which outside port a new mapping gets (RFC 4787 §4.2.1).
  public enum Ports: String, Sendable, CaseIterable {
    /// The inside port where it is free, else the next one that is.
    case preserved
    /// Any from 1024 up.
    case random
  }

  /// When an inside address and port gets another outside port.
  public var mapping: Dependence
  /// Who may send to a mapping: anybody, addresses it has sent to, or addresses and ports it has sent to.
  public var filtering: Dependence
  public var ports: Ports
  /// How long a mapping lasts after the last datagram from inside. RFC 4787 §4.3 asks for two minutes at least; many have less.
  public var mappingTimeout: Duration
  /// Whether datagrams from outside keep a mapping too (REQ-6).
  public var inboundRefreshes: Bool
  /// Whether two hosts inside reach each other by their outside addresses (RFC 4787 §6).
  public var hairpins: Bool

  public init(
    mapping: Dependence, filtering: Dependence, ports: Ports = .preserved,
    mappingTimeout: Duration = .seconds(120), inboundRefreshes: Bool = false, hairpins: Bool = true
  ) {
    self.mapping = mapping
    self.filtering = filtering
    self.ports = ports
    self.mappingTimeout = mappingTimeout
    self.inboundRefreshes = inboundRefreshes
    self.hairpins = hairpins
  }

  /// One mapping for all, open to all.
  public static let fullCone = NATBehaviour(
    mapping: .endpointIndependent, filtering: .endpointIndependent)
  /// One mapping for all, open to the addresses it has sent to.
  public static let restrictedCone = NATBehaviour(
    mapping: .endpointIndependent, filtering: .addressDependent)
  /// One mapping for all, open to the addresses and ports it has sent to: most homes.
  public static let portRestrictedCone = NATBehaviour(
    mapping: .endpointIndependent, filtering: .addressAndPortDependent)
  /// A mapping for each far end, open to that one alone: offices and mobile networks.
  public static let symmetric = NATBehaviour(
    mapping: .addressAndPortDependent, filtering: .addressAndPortDependent, ports: .random,
    hairpins: false)
}
