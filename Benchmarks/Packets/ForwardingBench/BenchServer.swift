import CPacketLoop
import CSoraMallocCount
import SoraClock
import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraServer
import SoraTransport

/// What the server's thread has spent so far.
struct Spent: Sendable {
  var cpuSeconds = 0.0
  var allocations: UInt64 = 0
  var polls = 0
  var statistics = NetworkStatistics()

  static func - (later: Spent, earlier: Spent) -> Spent {
    var difference = Spent()
    difference.cpuSeconds = later.cpuSeconds - earlier.cpuSeconds
    difference.allocations = later.allocations - earlier.allocations
    difference.polls = later.polls - earlier.polls
    difference.statistics.datagramsSent =
      later.statistics.datagramsSent - earlier.statistics.datagramsSent
    difference.statistics.messagesSent =
      later.statistics.messagesSent - earlier.statistics.messagesSent
    difference.statistics.drops.queueFull =
      later.statistics.drops.queueFull - earlier.statistics.drops.queueFull
    return difference
  }
}

/// The forwarding core on a network loop of its own, as `SoraServer` has it; signaling goes from loop to loop.
final class BenchServer: DatagramHandler, SFUCoreDelegate, @unchecked Sendable {
  // @unchecked: confined to its loop once it is started.
  let loop: NetworkLoop
  private var core: SFUCore?
  private var timer: LoopTimer?
  private let sockets = UDPSocketSet()
  private var clients: [SFUPeerID: BenchClient] = [:]
  private var joined = 0
  private var polls = 0
  /// How many have left or were refused, by the reason.
  private var ended: [String: Int] = [:]

  init() throws { loop = try NetworkLoop.make() }

  func start() async throws {
    let certificate = try DTLSCertificate.generate()
    let dtls = try DTLSImplementation.standard.makeFactory()
    let problem = await loop.run { [self] () -> String? in
      do {
        let socket = try loop.openUDP(
          TransportAddress(ip: .loopbackV4, port: 0), handler: self)
        sockets.insert(socket)
        var configuration = SFUCore.Configuration(
          certificate: certificate, dtls: dtls,
          wallClock: WallClock(unixNanoseconds: SystemClock.realtimeNanoseconds, at: loop.now),
          mediaAddresses: [socket.localAddress])
        configuration.maximumPeers = 5000
        configuration.usesDataChannels = false
        let core = SFUCore(configuration: configuration, random: .system(), sink: sockets)
        core.delegate = self
        self.core = core
        timer = loop.makeTimer { [weak self] now in
          self?.polls += 1
          self?.core?.poll(at: now)
          self?.schedule()
        }
        return nil
      } catch { return "\(error)" }
    }
    if let problem { fail("the server can't start: \(problem)") }
  }

  /// Lets a client in and takes its `connect`. From any thread.
  func connect(_ client: BenchClient, _ request: ConnectMessage) {
    loop.execute { [self] in
      guard let core, let peer = core.accept(at: loop.now) else { fail("the server is full") }
      clients[peer] = client
      client.peer = peer
      core.receive(.connect(request), from: peer, at: loop.now)
      schedule()
    }
  }

  /// Takes a client's message. From any thread.
  func receive(_ message: SFUMessage, from client: BenchClient) {
    loop.execute { [self] in
      guard let core, let peer = client.peer else { return }
      core.receive(message, from: peer, at: loop.now)
      schedule()
    }
  }

  /// How many have joined, and of these, or refused, how many have ended for which reason.
  func members() async -> (joined: Int, ended: [String: Int]) {
    await loop.run { [self] in (joined, ended) }
  }

  func spent() async -> Spent {
    await loop.run { [self] in
      Spent(
        cpuSeconds: packet_loop_thread_cpu(), allocations: sora_malloc_count(), polls: polls,
        statistics: loop.statistics)
    }
  }

  /// Microseconds of one `nextDeadline` and of one `poll` with nothing to do.
  func callCosts(times: Int) async -> (deadline: Double, poll: Double) {
    await loop.run { [self] in
      guard let core else { return (0, 0) }
      let now = loop.now
      var found = 0
      let started = packet_loop_thread_cpu()
      for _ in 0..<times where core.nextDeadline != nil { found += 1 }
      let between = packet_loop_thread_cpu()
      precondition(found == times, "a server with connections has a deadline")
      for _ in 0..<times { core.poll(at: now) }
      let ended = packet_loop_thread_cpu()
      schedule()
      return (
        (between - started) / Double(times) * 1e6, (ended - between) / Double(times) * 1e6
      )
    }
  }

  /// Lets go of the clients, and keeps their connections.
  func forgetClients() async { await loop.run { [self] in clients = [:] } }

  /// Ends all connections and forgets them.
  func stop() async {
    await loop.run { [self] in
      core?.shutdown(at: loop.now)
      timer?.cancel()
      timer = nil
      sockets.close()
      clients = [:]
      core = nil
    }
    loop.shutdown()
  }

  private func schedule() { timer?.deadline = core?.nextDeadline }

  // MARK: SFUCoreDelegate

  func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant) {
    guard let client = clients[peer] else { return }
    if case .close = output { clients[peer] = nil }
    client.loop.execute { client.handle(output) }
  }

  func core(_ core: SFUCore, event: SFUEvent, at now: Instant) {
    switch event {
    case .joined: joined += 1
    case .left(_, _, _, let reason), .refused(_, let reason): ended[reason, default: 0] += 1
    case .ignored: break
    }
  }

  // MARK: DatagramHandler

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    core?.received(bytes, from: source, on: socket.localAddress, at: now)
  }

  func batchEnded(at now: Instant) {
    core?.batchEnded(at: now)
    schedule()
  }
}
