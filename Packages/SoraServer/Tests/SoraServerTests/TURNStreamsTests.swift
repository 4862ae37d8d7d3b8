import SoraICE
import SoraMedia
import SoraServer
import SoraTransport
import SoraWire
import Testing

/// Which streams of TURN clients there are places for, and which have to go.
@Suite struct TURNStreamsTests {
  private struct Silent: ICEStreamConnection {
    func send(_ bytes: [UInt8]) {}
    func close() {}
  }

  private func client(_ network: UInt32, _ port: UInt16) -> TURNStreams.Client {
    TURNStreams.Client(
      local: TransportAddress(ip: .loopbackV4, port: 3478),
      remote: TransportAddress(ip: IPAddress(v4: 0x0A00_0000 | network), port: port), isStream: true
    )
  }

  private func streams(total: Int = 8, waiting: Int = 8) -> TURNStreams {
    var limits = TURNStreams.Limits()
    limits.total = total
    limits.waitingOfNetwork = waiting
    limits.patience = .seconds(10)
    return TURNStreams(limits)
  }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  @Test func whoHasNoAllocationInTimeIsLate() {
    var streams = streams()
    #expect(streams.nextDeadline == nil)
    let clients = (1...3).map { client(1, $0) }
    for (index, client) in clients.enumerated() {
      streams.add(client, Silent(), at: at(Int64(index)))
    }
    #expect(streams.nextDeadline == at(10) && streams.late(at: at(9)) == nil)
    streams.openedRelay(for: clients[0])
    #expect(streams.nextDeadline == at(11))
    #expect(streams.late(at: at(20)) == clients[1])
    #expect(streams.remove(clients[1]) != nil && streams.remove(clients[1]) == nil)
    #expect(streams.late(at: at(20)) == clients[2])
    _ = streams.remove(clients[2])
    // An allocation lasts as long as it does; one of two relays isn't its end.
    #expect(streams.nextDeadline == nil)
    streams.openedRelay(for: clients[0])
    streams.closedRelay(of: clients[0], at: at(30))
    #expect(streams.nextDeadline == nil)
    streams.closedRelay(of: clients[0], at: at(31))
    #expect(streams.nextDeadline == at(41) && streams.late(at: at(41)) == clients[0])
    streams.openedRelay(for: clients[0])
    #expect(streams.nextDeadline == nil && streams.count == 1)
    // Of those that aren't streams nothing is kept.
    streams.openedRelay(for: client(2, 1))
    streams.closedRelay(of: client(2, 1), at: at(50))
    #expect(streams.nextDeadline == nil && streams.count == 1)
  }

  @Test func aNetworkHasItsShareOfThoseThatWait() {
    var streams = streams(waiting: 3)
    for port in 1...3 as ClosedRange<UInt16> {
      #expect(streams.room(for: client(1, port)) == .free)
      streams.add(client(1, port), Silent(), at: at(0))
    }
    #expect(streams.room(for: client(1, 4)) == .none)
    #expect(streams.room(for: client(2, 1)) == .free)
    streams.openedRelay(for: client(1, 2))
    #expect(streams.room(for: client(1, 4)) == .free)
    streams.closedRelay(of: client(1, 2), at: at(1))
    #expect(streams.room(for: client(1, 4)) == .none)
    _ = streams.remove(client(1, 1))
    #expect(streams.room(for: client(1, 4)) == .free)
    #expect(streams.count == 2 && streams.room(for: client(1, 4)) == .free)
    streams.closeAll()
    #expect(streams.count == 0 && streams.nextDeadline == nil)
  }

  @Test func whoTakesAllPlacesTakesThemFromItself() {
    var streams = streams(total: 4)
    streams.add(client(1, 1), Silent(), at: at(0))
    streams.openedRelay(for: client(1, 1))
    for port in 2...4 as ClosedRange<UInt16> {
      streams.add(client(1, port), Silent(), at: at(0))
    }
    // The oldest without an allocation.
    #expect(streams.room(for: client(2, 1)) == .takes(client(1, 2)))
    #expect(streams.room(for: client(1, 5)) == .none)
    _ = streams.remove(client(1, 2))
    streams.add(client(2, 1), Silent(), at: at(1))
    #expect(streams.room(for: client(2, 2)) == .none)
    #expect(streams.room(for: client(3, 1)) == .takes(client(1, 3)))
    for port in 3...4 as ClosedRange<UInt16> { streams.openedRelay(for: client(1, port)) }
    #expect(streams.room(for: client(3, 1)) == .none)
  }
}
