// CPU time, datagrams and flights of a DTLS handshake with both certificates, both ends together: this project's own
// beside libssl, and application data sealed and opened.
import Glibc
import SoraDTLS
import SoraMedia

func cpuMicroseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

struct Generator: RandomNumberGenerator {
  var system = SystemRandomNumberGenerator()
  mutating func next() -> UInt64 { system.next() }
}

var generator = Generator()
let random = RandomSource { generator.next() }
let certificates = (try DTLSCertificate.generate(), try DTLSCertificate.generate())

@MainActor struct Pair {
  let client: any DTLSEndpoint
  let server: any DTLSEndpoint
  var datagrams = 0
  var bytes = 0
  /// Times that the direction changed.
  var flights = 0

  init(_ clients: any DTLSEndpointFactory, _ servers: any DTLSEndpointFactory) throws {
    client = try clients.makeEndpoint(
      role: .client, certificate: certificates.0,
      expectedFingerprint: certificates.1.fingerprint, random: random)
    server = try servers.makeEndpoint(
      role: .server, certificate: certificates.1,
      expectedFingerprint: certificates.0.fingerprint, random: random)
  }

  mutating func carry(_ from: any DTLSEndpoint, _ to: any DTLSEndpoint) {
    var isFirst = true
    while let datagram = from.nextTransmit() {
      if isFirst { flights += 1 }
      isFirst = false
      datagrams += 1
      bytes += datagram.count
      datagram.withUnsafeBytes { to.receive($0, at: .zero) }
    }
  }

  mutating func connect() -> Bool {
    server.start(at: .zero)
    client.start(at: .zero)
    for _ in 0..<4 {
      carry(client, server)
      carry(server, client)
    }
    var connected = 0
    for end in [client, server] {
      while let event = end.nextEvent() { if case .connected = event { connected += 1 } }
    }
    return connected == 2
  }
}

@MainActor func measure(
  _ name: String, _ clients: any DTLSEndpointFactory, _ servers: any DTLSEndpointFactory
) throws {
  var best = Double.infinity
  var last = try Pair(clients, servers)
  for _ in 0..<5 {
    let start = cpuMicroseconds()
    for _ in 0..<100 {
      last = try Pair(clients, servers)
      guard last.connect() else { return print("\(name): no handshake") }
    }
    best = min(best, (cpuMicroseconds() - start) / 100)
  }
  let message = [UInt8](repeating: 7, count: 1100)
  var perMessage = Double.infinity
  for _ in 0..<5 {
    let start = cpuMicroseconds()
    for _ in 0..<5_000 {
      try message.withUnsafeBytes { try last.client.send($0, at: .zero) }
      last.carry(last.client, last.server)
      while last.server.nextEvent() != nil {}
    }
    perMessage = min(perMessage, (cpuMicroseconds() - start) / 5_000)
  }
  let pair = try { () throws -> Pair in
    var pair = try Pair(clients, servers)
    _ = pair.connect()
    return pair
  }()
  func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
  print(
    name + String(repeating: " ", count: max(0, 28 - name.count)),
    padded("\(Int(best)) us", 9), padded("\(pair.flights) flights", 10),
    padded("\(pair.datagrams) datagrams", 13), padded("\(pair.bytes) bytes", 11),
    padded("\(Double(Int(perMessage * 100)) / 100) us", 9), "a message of 1,100 bytes")
}

var own12 = NativeDTLSFactory()
own12.settings.versions = [.v12]
let own13 = NativeDTLSFactory()
let libssl = try OpenSSLDTLSFactory()
try measure("own 1.3 with itself", own13, own13)
try measure("own 1.2 with itself", own12, own12)
try measure("libssl 1.2 with itself", libssl, libssl)
try measure("own client, libssl server", own13, libssl)
try measure("libssl client, own server", libssl, own13)
