public import SoraMedia

extension PeerConnectionCore {
  /// What `RTCPeerConnection.statistics()` has, of a core that an application or a simulation drives itself. Of what lies above a core, sources,
  /// pipelines and playout, and of sockets, it knows nothing.
  ///
  /// - Parameters:
  ///   - now: by the clock that drives the core.
  ///   - unixNanoseconds: nanoseconds since 1970 at `now`.
  public func statistics(at now: Instant, unixNanoseconds: Int64) -> RTCStatisticsReport {
    StatisticsCollector(core: self, now: now, unixNanoseconds: unixNanoseconds).report()
  }
}
