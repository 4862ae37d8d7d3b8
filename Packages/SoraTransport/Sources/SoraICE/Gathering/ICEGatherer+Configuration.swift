extension ICEGatherer {
  public struct Configuration: Sendable {
    public var servers: [ICEServer] = []
    public var policy = ICETransportPolicy.all
    public var retransmission = STUNRetransmission()
    /// Allocations on one TURN server: one a base, up to this.
    public var maximumRelaysPerServer = 4
    /// Binding requests and allocations under way or kept, of all servers.
    public var maximumClients = 48
    /// How often in a row a server is asked for another allocation in the place of one that was lost.
    public var maximumRemakes = 24
    /// The wait after the first of those tries failed, give or take a fifth; each further one is half as long again.
    public var remakeDelay: Duration = .milliseconds(250)
    /// The longest of those waits: a call lives for 30 s without its relay, and the server shall not come back in vain.
    public var maximumRemakeDelay: Duration = .seconds(3)
    /// How long a stream's server may owe an answer to `verify` before another stream is opened beside it.
    public var streamPatience: Duration = .seconds(1)

    public init() {}
  }
}
