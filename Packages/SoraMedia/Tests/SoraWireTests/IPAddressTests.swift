import SoraMedia
import SoraWire
import Testing

@Suite struct IPAddressTests {
  @Test(arguments: [
    ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("192.0.2.1", "192.0.2.1"),
    // RFC 5952 §4 and §5.
    ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:DB8::AAaa", "2001:db8::aaaa"),
    ("0:0:0:0:0:0:0:0", "::"), ("::1", "::1"), ("1::", "1::"),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ("::ffff:c000:201", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
    ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
  ])
  func textForms(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(canonical) == address)
  }

  /// One host has all of a /64; everything else is another place.
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
    ("192.0.2.1", "::ffff:192.0.2.1", true), ("::ffff:192.0.2.2", "::ffff:192.0.2.1", false),
    ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true), ("2001:db8:0:1::1", "2001:db8::1", false),
    ("0.0.0.0", "::", false), ("1.2.3.4", "::1.2.3.4", false),
  ])
  func networksOfClients(one: String, other: String, areOne: Bool) throws {
    let networks = [try #require(ClientNetwork(one)), try #require(ClientNetwork(other))]
    #expect((networks[0] == networks[1]) == areOne)
    #expect(ClientNetwork("\(one)%eth0") == nil)
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "1..3.4", "1.2.3.4 ",
    " 1.2.3.4",
    ":", ":::", "1:", ":1", "1:2", "1::2::3", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::",
    "g::", "::1.2.3", "1.2.3.4::", "::1.2.3.4:5", "fe80::1%eth0", "[::1]", "1:2:3:4:5:6:7:1.2.3.4",
  ])
  func otherTextIsRefused(text: String) { #expect(IPAddress(text) == nil) }

  @Test func scopes() {
    #expect(IPAddress("127.9.9.9")!.isLoopback && IPAddress("::1")!.isLoopback)
    #expect(IPAddress("169.254.3.4")!.isLinkLocal && IPAddress("fe80::3")!.isLinkLocal)
    #expect(IPAddress("febf::3")!.isLinkLocal && !IPAddress("fec0::3")!.isLinkLocal)
    #expect(IPAddress("224.0.0.251")!.isMulticast && IPAddress("ff02::fb")!.isMulticast)
    #expect(IPAddress("::ffff:1.2.3.4")!.isV4Mapped)
    #expect(IPAddress("10.0.0.1")!.v4Bits == 0x0A00_0001)
    #expect(IPAddress("10.0.0.1")!.bytes == [10, 0, 0, 1])
    #expect(
      IPAddress("2001:db8::1")!.bytes == [32, 1, 13, 184] + [UInt8](repeating: 0, count: 11) + [1])
    #expect(IPAddress("::1")! != IPAddress("0.0.0.1")!)
  }

  @Test func randomAddressesSurvive() {
    let random = RandomSource(seed: 42)
    for _ in 0..<5_000 {
      // Masks make zero groups likely.
      let mask = (random.next() & random.next(), random.next() & random.next())
      let v6 = IPAddress(
        v6: (random.next() & mask.0 & 0xFFFF_0000_FFFF_00FF, random.next() & mask.1 & 0xFFFF_FFFF))
      #expect(IPAddress(v6.description) == v6)
      let v4 = IPAddress(v4: UInt32(truncatingIfNeeded: random.next()))
      #expect(IPAddress(v4.description) == v4)
    }
  }

  @Test func transportAddresses() {
    #expect(TransportAddress("192.0.2.1:80")?.description == "192.0.2.1:80")
    #expect(TransportAddress("[2001:DB8::1]:65535")?.description == "[2001:db8::1]:65535")
    for text in [
      "", ":80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "::1:80", "[1.2.3.4]:80", "[::1]", "[]:1",
      "1.2.3.4:-1",
    ] {
      #expect(TransportAddress(text) == nil)
    }
  }
}
