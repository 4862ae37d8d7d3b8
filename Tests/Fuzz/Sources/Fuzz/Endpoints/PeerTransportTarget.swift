import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire

/// Keeps datagrams until the script says what becomes of them.
private final class FuzzSink: DatagramSink {
  var datagrams: [[UInt8]] = []

  func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    lendExactly([UInt8](repeating: 0, count: capacity)) { buffer in
      let count = write(buffer)
      check(count <= capacity, "a datagram longer than its room")
      if count > 0, datagrams.count < 64 { datagrams.append(Array(buffer[..<count])) }
    }
  }
}

private final class FuzzDelegate: PeerTransportDelegate {
  var ends = 0
  private var last = PeerTransportState.new

  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) { _ = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) { FuzzTarget.walk(packet) }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    switch state {
    case .failed(let error) where error.isRecoverable:
      check(ends == 0, "a transport failed after its end")
    case .failed, .closed:
      ends += 1
      check(ends == 1, "a transport ended twice")
    default: check(ends == 0, "a transport went on after its end")
    }
    // Only a restart leads out of a failure.
    if case .failed = last { check(state != .connected, "a failed transport was connected") }
    last = state
  }

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}

extension FuzzTarget {
  /// Two whole transports, and a network between them that the script rules.
  static var peerTransport: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var honest = ScriptWriter()
      for _ in 0..<20 { honest.raw([0, 1, 2, 10]) }
      honest.raw([3, 3, 0, 1, 0, 1])
      var rough = ScriptWriter()
      for index in 0..<20 { rough.raw([0, 1, 2, 30, 4, UInt8(index), 0x10, 6, 0]) }
      rough.raw([7, 0, 3, 22, 0, 1, 2, 240])
      // Silence until both have failed, and a restart.
      var restarted = honest
      for _ in 0..<2 { restarted.raw([2, 249]) }
      restarted.raw([12])
      for _ in 0..<20 { restarted.raw([0, 2, 10]) }
      return [honest.bytes, rough.bytes, restarted.bytes]
    }
    return FuzzTarget("peer-transport", maximumLength: 500, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      guard var run = TransportRun(isLite: bytes.count & 1 != 0) else {
        return check(false, "no transports")
      }
      while !input.isAtEnd { run.step(&input) }
      for transport in run.transports { transport.close(at: run.now) }
    }
  }

  private struct TransportRun {
    let transports: [PeerTransport]
    private let sinks = [FuzzSink(), FuzzSink()]
    private let delegates = [FuzzDelegate(), FuzzDelegate()]
    private let addresses = [FuzzAddresses.local, FuzzAddresses.remote]
    var now = Instant.zero
    private var last: [UInt8] = []

    init?(isLite: Bool) {
      guard let first = try? SimulationCertificate.make(1),
        let second = try? SimulationCertificate.make(2)
      else { return nil }
      let certificates = [first, second]
      var made: [PeerTransport] = []
      for index in 0..<2 {
        let transport = PeerTransport(
          configuration: PeerTransport.Configuration(
            ice: ICEAgent.Configuration(
              isControlling: index == 0, isLite: index == 1 && isLite),
            certificate: certificates[index], dtls: StandInDTLSFactory()),
          random: RandomSource(seed: UInt64(index)), sink: sinks[index])
        transport.delegate = delegates[index]
        made.append(transport)
      }
      transports = made
      for index in 0..<2 { _ = transports[index].addLocalCandidate(addresses[index]) }
      for index in 0..<2 { start(index) }
    }

    private func deliver(_ datagram: [UInt8], to index: Int, from remote: TransportAddress? = nil) {
      lendExactly(datagram) {
        transports[index].receive(
          $0, from: remote ?? addresses[1 - index], on: addresses[index], at: now)
      }
    }

    /// Takes the oldest datagram that the other side sent.
    private mutating func next(for index: Int) -> [UInt8]? {
      let sink = sinks[1 - index]
      guard !sink.datagrams.isEmpty else { return nil }
      last = sink.datagrams.removeFirst()
      return last
    }

    mutating func step(_ input: inout FuzzInput) {
      let operation = input.byte()
      let index = Int(operation >> 7)
      switch operation & 0x7F {
      case 0, 1:
        // All that is on its way, both ways.
        for side in 0..<2 {
          while let datagram = next(for: side) { deliver(datagram, to: side) }
        }
      case 2:
        let end = now + input.step()
        for transport in transports {
          drive(until: end, from: now, deadline: transport.nextDeadline) {
            transport.poll(at: $0)
          }
        }
        now = end
      case 3: send(on: index, size: Int(input.byte()))
      case 4:
        guard var datagram = next(for: index), !datagram.isEmpty else { return }
        datagram[Int(input.byte()) % datagram.count] ^= input.byte()
        deliver(datagram, to: index)
      case 5: _ = next(for: index)
      case 6: deliver(last, to: Int(input.byte() & 1))
      case 7: deliver(input.chunk(), to: index)
      case 8:
        if let datagram = next(for: index) {
          deliver(datagram, to: index, from: FuzzAddresses.remote(input.byte()))
        }
      case 9: transports[index].ice.restart(at: now)
      case 12: restart(on: index)
      case 13: transports[index].rollBackICE(at: now)
      case 10 where input.byte() == 0x55: transports[index].close(at: now)
      case 11:
        guard let datagram = next(for: index) else { return }
        deliver(Array(datagram.prefix(Int(input.byte()))), to: index)
      default: break
      }
      _ = (transports[0].isWritable, transports[1].isWritable)
    }

    /// Both restart, and take each other's description.
    private func restart(on index: Int) {
      for side in [index, 1 - index] { transports[side].restartICE(at: now) }
      for side in 0..<2 { start(side) }
    }

    private func start(_ index: Int) {
      let other = transports[1 - index]
      transports[index].start(
        PeerTransport.RemoteDescription(
          ice: other.ice.localParameters, fingerprint: other.certificate.fingerprint,
          localRole: index == 0 ? .client : .server), at: now)
      for candidate in other.ice.localCandidates {
        transports[index].addRemoteCandidate(candidate, at: now)
      }
    }

    private func send(on index: Int, size: Int) {
      let transport = transports[index]
      let header = RTPHeader(
        payloadType: 96, sequenceNumber: UInt16(size), timestamp: 0, ssrc: UInt32(size & 3))
      let packet = rtpPacket(header, payload: [UInt8](repeating: 3, count: size))
      packet.withUnsafeBytes { _ = transport.sendRTP($0) }
      _ = transport.sendRTCP(capacity: 64) { buffer in
        var writer = RTCPWriter(into: buffer)
        try? writer.receiverReport(sender: 1)
        return writer.count
      }
    }
  }
}
