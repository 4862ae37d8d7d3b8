import Foundation
import SoraICE
import SoraMedia
import SoraTransport
import SoraWire
import Testing

/// What IP says beside the datagram: ECN bits, path MTUs and ICMP messages, on real sockets.
@Suite(.timeLimit(.minutes(5))) struct LoopPathTests {
  // MARK: ECN

  /// Sends to a loop's socket with a system socket of its own, whose IP header it can set.
  private final class MarkingSender {
    private let descriptor: Int32
    private let isV4: Bool
    private var name = sockaddr_storage()
    private var length = socklen_t(0)

    init(to address: TransportAddress) throws {
      isV4 = address.ip.isV4
      descriptor = socket(isV4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
      try #require(descriptor >= 0)
      let isV4 = isV4
      length = withUnsafeMutableBytes(of: &name) { memory in
        if isV4 {
          var v4 = sockaddr_in()
          v4.sin_family = sa_family_t(AF_INET)
          v4.sin_port = address.port.bigEndian
          v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
          memory.storeBytes(of: v4, as: sockaddr_in.self)
          return socklen_t(MemoryLayout<sockaddr_in>.size)
        }
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = address.port.bigEndian
        v6.sin6_addr = in6addr_loopback
        memory.storeBytes(of: v6, as: sockaddr_in6.self)
        return socklen_t(MemoryLayout<sockaddr_in6>.size)
      }
    }

    deinit { close(descriptor) }

    func send(_ count: Int, marked mark: ECNCodepoint, segment: Int = 0) throws {
      // Beside a DSCP, which has to be taken off.
      var byte = Int32(0b1011_1000) | Int32(mark.rawValue)
      let size = socklen_t(MemoryLayout<Int32>.size)
      try #require(
        setsockopt(
          descriptor, isV4 ? Int32(IPPROTO_IP) : Int32(IPPROTO_IPV6), isV4 ? IP_TOS : IPV6_TCLASS,
          &byte, size) == 0)
      // UDP_SEGMENT.
      var segment = Int32(segment)
      try #require(setsockopt(descriptor, Int32(IPPROTO_UDP), 103, &segment, size) == 0)
      let bytes = [UInt8](repeating: mark.rawValue, count: count)
      let sent = withUnsafePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, bytes, bytes.count, 0, $0, length)
        }
      }
      try #require(sent == count)
    }
  }

  @Test(arguments: LoopEchoTests.families) func marksOfTheIPHeaderArrive(ip: IPAddress) async throws
  {
    let endpoint = LoopEndpoint(try .make())
    let address = try await endpoint.open(ip)
    let sender = try MarkingSender(to: address)
    let marks: [ECNCodepoint] = [.ect0, .congestionExperienced, .notECT, .ect1, .ect0]
    for mark in marks { try sender.send(100, marked: mark) }
    // Ten in one message.
    try sender.send(1000, marked: .congestionExperienced, segment: 100)
    try sender.send(50, marked: .notECT)
    let all = await endpoint.received(16)
    #expect(
      all.map(\.ecn)
        == marks + Array(repeating: .congestionExperienced, count: 10) + [.notECT])
    // Nothing has stayed from the one before.
    #expect(all.allSatisfy { $0.bytes.allSatisfy { [mark = $0.ecn.rawValue] in $0 == mark } })
    let statistics = await endpoint.statistics
    #expect(statistics.datagramsReceivedWithECT0 == 2)
    #expect(statistics.datagramsReceivedWithECT1 == 1)
    #expect(statistics.datagramsReceivedWithCE == 11)
    #expect(statistics.mergedReceives == 1)
    await endpoint.close()
  }

  /// What is merged into one message has one mark; offload or not, each datagram arrives with its own.
  @Test(arguments: LoopEchoTests.families, [true, false])
  func datagramsLeaveMarked(ip: IPAddress, offload: Bool) async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.segmentationOffload = offload
    let sender = LoopEndpoint(try .make(configuration: configuration))
    let receiver = LoopEndpoint(try .make())
    let address = try await receiver.open(ip, from: sender.open(ip))
    // Runs of three, between them single ones of another mark, all of one length and in one turn.
    let marks: [ECNCodepoint] = [
      .ect1, .ect1, .ect1, .notECT, .ect0, .ect0, .ect0, .congestionExperienced, .notECT, .notECT,
      .ect1,
    ]
    await sender.with { sender in
      for mark in marks {
        sender.socket?.send(to: address, ecn: mark, capacity: 100) { memory in
          for index in 0..<100 { memory[index] = mark.rawValue }
          return 100
        }
      }
    }
    let all = await receiver.received(marks.count)
    #expect(all.map(\.ecn) == marks)
    #expect(all.allSatisfy { $0.bytes == [UInt8](repeating: $0.ecn.rawValue, count: 100) })
    if offload { #expect(await sender.statistics.mergedSends > 0) }
    await sender.close()
    await receiver.close()
  }

  // MARK: ICMP

  @Test(arguments: LoopEchoTests.families, [true, false])
  func aPeerThatIsGoneCostsTheOthersNothing(ip: IPAddress, offload: Bool) async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.segmentationOffload = offload
    let sender = LoopEndpoint(try .make(configuration: configuration))
    let receiver = LoopEndpoint(try .make())
    _ = try await sender.open(ip)
    let alive = try await receiver.open(ip)
    // Nobody has that port open; one that was just closed another test may be given.
    let dead = TransportAddress(ip: ip, port: 1)
    // Answers of the kernel come between the system calls of one turn, and between turns.
    let rounds = 100
    for round in 0..<rounds {
      await sender.with { sender in
        for index in 0..<128 {
          sender.socket?.send(to: index % 64 == 63 ? dead : alive, capacity: 4) { memory in
            memory.storeBytes(of: UInt32(round * 128 + index), as: UInt32.self)
            return 4
          }
        }
      }
      // What was lost would be waited for below.
      try #require(await sender.statistics.drops.total == 0)
      // Where the receiver is slower, its buffer would fill.
      _ = await receiver.received((round + 1) * 126)
    }
    let numbers = await receiver.received(rounds * 126).map {
      Int($0.bytes[0]) | Int($0.bytes[1]) << 8
    }
    #expect(numbers == numbers.sorted() && Set(numbers).count == rounds * 126)
    let statistics = await sender.statistics
    #expect(statistics.datagramsSent == UInt64(rounds * 128))
    #expect(statistics.icmp.portUnreachable > 0)
    #expect(statistics.icmp.unreachable + statistics.icmp.packetTooBig + statistics.icmp.other == 0)
    await expectRest(sender)
    await sender.close()
    await receiver.close()
  }

  /// The loop has nothing to do: its turns read nothing.
  private func expectRest(_ endpoint: LoopEndpoint) async {
    let calls = await endpoint.statistics.receiveCalls
    for _ in 0..<50 { await endpoint.loop.run {} }
    #expect(await endpoint.statistics.receiveCalls == calls)
  }

  // MARK: Path MTU

  @Test(.needsNamespaces, arguments: LoopEchoTests.families)
  func whatIsTooLongForTheInterfaceIsRefusedOrCut(ip: IPAddress) async throws {
    for fragments in [true, false] {
      var configuration = NetworkLoop.Configuration()
      configuration.fragmentsLongDatagrams = fragments
      let namespace = try TestNamespace(configuration)
      try namespace.run("ip link set lo mtu 1280")
      let a = LoopEndpoint(namespace.loop)
      let b = LoopEndpoint(namespace.loop)
      _ = try await a.open(ip)
      let address = try await b.open(ip)
      #expect(await a.with { $0.socket?.pathMTU(to: ip) } == 1280)
      // Merged first, where that can be.
      let long = (0..<8).map { numberedDatagram($0, size: 1300) }
      await a.send(long, to: address)
      let short = (8..<16).map { numberedDatagram($0, size: 1200) }
      await a.send(short, to: address)
      let arrived = await b.received(fragments ? 16 : 8)
      #expect(arrived.map(\.bytes) == (fragments ? long : []) + short)
      let statistics = await a.statistics
      #expect(statistics.drops.tooLong == (fragments ? 0 : 8))
      #expect(statistics.drops.total == statistics.drops.tooLong)
      let report = await a.with { $0.socket?.pathMTUReport }
      if fragments {
        #expect(report == nil)
      } else {
        #expect(report?.destination == ip && report?.mtu == 1280)
      }
      // The short ones still go together.
      if statistics.mergeRefusals > 0 { #expect(statistics.mergedSends == 1) }
      await expectRest(a)
      namespace.loop.shutdown()
    }
  }

  /// Two hosts, and a router between them whose second link takes only 1,280 bytes.
  private struct NarrowPath {
    let near: TestNamespace
    let far: TestNamespace
    let router: TestNamespace

    init(_ configuration: NetworkLoop.Configuration) throws {
      near = try TestNamespace(configuration)
      far = try TestNamespace(configuration)
      router = try TestNamespace()
      // An address is used at once where nobody is asked whether it is free (nodad).
      try router.run(
        """
        echo 1 > /proc/sys/net/ipv4/ip_forward
        echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
        ip link add near type veth peer name w netns \(near.path)
        ip link add far type veth peer name w netns \(far.path)
        ip link set near up
        ip link set far mtu 1280 up
        ip address add 10.71.1.1/24 dev near
        ip address add 10.71.2.1/24 dev far
        ip address add fd71:1::1/64 dev near nodad
        ip address add fd71:2::1/64 dev far nodad
        """)
      for (host, number, mtu) in [(near, 1, 1500), (far, 2, 1280)] {
        try host.run(
          """
          ip link set w mtu \(mtu) up
          ip address add 10.71.\(number).2/24 dev w
          ip address add fd71:\(number)::2/64 dev w nodad
          ip route add default via 10.71.\(number).1
          ip route add default via fd71:\(number)::1
          """)
      }
    }
  }

  @Test(.needsNamespaces, arguments: [4, 6], [true, false])
  func aRoutersWordAboutANarrowPathIsHeard(version: Int, fragments: Bool) async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.fragmentsLongDatagrams = fragments
    let path = try NarrowPath(configuration)
    let (nearIP, farIP) =
      version == 4
      ? (IPAddress("10.71.1.2")!, IPAddress("10.71.2.2")!)
      : (IPAddress("fd71:1::2")!, IPAddress("fd71:2::2")!)
    let a = LoopEndpoint(path.near.loop)
    let b = LoopEndpoint(path.far.loop)
    _ = try await a.open(nearIP)
    let address = try await b.open(farIP)
    #expect(await a.with { $0.socket?.pathMTU(to: farIP) } == 1500)
    // Neighbours find each other with the first datagrams.
    await a.send([numberedDatagram(0, size: 1200)], to: address)
    _ = await b.received(1)
    await a.send([numberedDatagram(1, size: 1300)], to: address)
    while await a.statistics.icmp.packetTooBig == 0 { await Task.yield() }
    let report = await a.with { $0.socket?.pathMTUReport }
    #expect(report?.destination == farIP && report?.mtu == 1280)
    #expect(await a.with { $0.socket?.pathMTU(to: farIP) } == 1280)
    #expect(await b.count == 1)
    // The kernel has learnt it, too.
    await a.send([numberedDatagram(2, size: 1300), numberedDatagram(3, size: 1200)], to: address)
    let expected = (fragments ? [0, 2, 3] : [0, 3]).map { [size = [1200, 0, 1300, 1200]] in
      numberedDatagram($0, size: size[$0])
    }
    #expect(await b.received(expected.count).map(\.bytes) == expected)
    let statistics = await a.statistics
    #expect(statistics.drops.tooLong == (fragments ? 0 : 1))
    #expect(statistics.drops.total == statistics.drops.tooLong)
    #expect(statistics.icmp.packetTooBig == 1)
    await expectRest(a)
    path.near.loop.shutdown()
    path.far.loop.shutdown()
    path.router.loop.shutdown()
  }
}
