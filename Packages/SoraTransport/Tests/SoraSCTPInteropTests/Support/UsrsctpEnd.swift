import CSoraUsrsctp
import Glibc
import SoraMedia

/// usrsctp's time, which is one for the process and only grows: a test's begins where the one before has ended.
struct UsrsctpClock {
  private let base: Int64

  init(seed: UInt64) {
    // The library's timers are whole milliseconds, so each test begins with one.
    let now = sora_usrsctp_now()
    base = (now / 1_000_000 + 1) * 1_000_000
    while sora_usrsctp_run_until(base) < base {}
    sora_usrsctp_seed(seed)
  }

  /// Runs until `end`, or until something was sent or told. Gives the time that it came to.
  func run(until end: Instant) -> Instant {
    Instant(nanoseconds: sora_usrsctp_run_until(base + end.nanoseconds) - base)
  }

  static var isInstalled: Bool { sora_usrsctp_load() != 0 }
  static let requirement = "needs Debian's libusrsctp-dev, which is loaded at run time"
}

/// An end of usrsctp 0.9.5's. All of them run on one thread.
final class UsrsctpEnd: End {
  /// What the callbacks write to: they can't call into the library.
  private final class Inbox {
    var packets: [[UInt8]] = []
    var events: [EndEvent] = []
    /// Messages of which pieces have come: the library tells a long one before it is complete.
    var pieces: [UInt32: [UInt8]] = [:]
    var reason = ""
  }

  private let inbox = Inbox()
  private let peer: OpaquePointer
  private var taken = 0
  private var told = 0

  init(_ settings: EndSettings, localPort: UInt16 = 5000, remotePort: UInt16 = 5000) throws {
    var options = sora_usrsctp_options()
    options.local_port = localPort
    options.remote_port = remotePort
    options.streams = settings.streams
    options.interleaving = settings.offersInterleaving ? 1 : 0
    options.mtu = UInt32(settings.mtu)
    options.send_buffer = UInt32(settings.sendBuffer)
    options.receive_buffer = UInt32(settings.receiveBuffer)
    var callbacks = sora_usrsctp_callbacks()
    callbacks.context = Unmanaged.passUnretained(inbox).toOpaque()
    callbacks.packet = { context, bytes, count in
      UsrsctpEnd.inbox(context).packets.append(UsrsctpEnd.copy(bytes, count))
    }
    callbacks.message = { context, stream, protocolID, unordered, bytes, count, isEnd in
      let inbox = UsrsctpEnd.inbox(context)
      let key = UInt32(stream) << 1 | (unordered != 0 ? 1 : 0)
      var content = inbox.pieces.removeValue(forKey: key) ?? []
      content += UsrsctpEnd.copy(bytes, count)
      if isEnd != 0 {
        inbox.events.append(
          .received(EndEvent.Received(stream: stream, id: protocolID, bytes: content)))
      } else {
        inbox.pieces[key] = content
      }
    }
    callbacks.event = { context, event, detail in
      let inbox = UsrsctpEnd.inbox(context)
      if event == sora_usrsctp_delivery_aborted {
        for unordered in 0..<2 as Range<UInt32> {
          inbox.pieces.removeValue(forKey: detail << 1 | unordered)
        }
      }
      if event == sora_usrsctp_lost { inbox.reason = "usrsctp's error cause \(detail)" }
      if let event = UsrsctpEnd.event(event, detail) { inbox.events.append(event) }
    }
    guard let peer = sora_usrsctp_create(&options, &callbacks) else {
      throw Failure(what: "usrsctp refuses a socket: \(String(cString: strerror(errno)))")
    }
    self.peer = peer
  }

  deinit { sora_usrsctp_destroy(peer) }

  struct Failure: Error, CustomStringConvertible {
    var what: String
    var description: String { what }
  }

  private static func inbox(_ context: UnsafeMutableRawPointer?) -> Inbox {
    Unmanaged<Inbox>.fromOpaque(context!).takeUnretainedValue()
  }

  private static func copy(_ bytes: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  private static func event(_ event: sora_usrsctp_event, _ detail: UInt32) -> EndEvent? {
    let stream = UInt16(truncatingIfNeeded: detail)
    return switch event {
    case sora_usrsctp_up:
      .up(interleaving: detail & sora_usrsctp_interleaving.rawValue != 0)
    case sora_usrsctp_shut_down: .ended(.shutDown)
    case sora_usrsctp_lost: .ended(.aborted)
    case sora_usrsctp_not_started: .ended(.neverUp)
    case sora_usrsctp_incoming_reset: .incomingReset(stream)
    case sora_usrsctp_outgoing_reset: .outgoingReset(stream)
    case sora_usrsctp_reset_failed: .resetFailed(stream)
    default: nil
    }
  }

  let nextDeadline: Instant? = nil
  func poll(at now: Instant) {}

  func listen(at now: Instant) { sora_usrsctp_listen(peer) }
  func connect(at now: Instant) { sora_usrsctp_connect(peer) }

  func receive(_ packet: [UInt8], at now: Instant) {
    packet.withUnsafeBytes { sora_usrsctp_receive(peer, $0.baseAddress, $0.count) }
  }

  func nextPacket(at now: Instant) -> [UInt8]? {
    guard taken < inbox.packets.count else {
      inbox.packets.removeAll(keepingCapacity: true)
      taken = 0
      return nil
    }
    taken += 1
    return inbox.packets[taken - 1]
  }

  func nextEvent() -> EndEvent? {
    guard told < inbox.events.count else {
      inbox.events.removeAll(keepingCapacity: true)
      told = 0
      return nil
    }
    told += 1
    return inbox.events[told - 1]
  }

  func send(_ message: Message, _ bytes: [UInt8], at now: Instant) -> Acceptance {
    let (reliability, value): (sora_usrsctp_reliability, Int) =
      switch message.reliability {
      case .reliable: (sora_usrsctp_reliable, 0)
      case .retransmissions(let count): (sora_usrsctp_retransmissions, count)
      case .lifetime(let milliseconds): (sora_usrsctp_lifetime, milliseconds)
      }
    let result = bytes.withUnsafeBytes {
      sora_usrsctp_send(
        peer, message.stream, message.id, message.isOrdered ? 0 : 1, reliability, UInt32(value),
        $0.baseAddress, $0.count)
    }
    return acceptance(result)
  }

  func reset(_ stream: UInt16, at now: Instant) -> Acceptance {
    var stream = stream
    return acceptance(sora_usrsctp_reset(peer, &stream, 1))
  }

  private func acceptance(_ result: Int32) -> Acceptance {
    switch result {
    case 0: .accepted
    case EWOULDBLOCK, EALREADY, EINPROGRESS: .later
    default: .refused(String(cString: strerror(result)))
    }
  }

  func shutDown(at now: Instant) { sora_usrsctp_shutdown(peer) }
  func abort(at now: Instant) { sora_usrsctp_abort(peer) }

  let abandoned: Set<UInt32>? = nil
  var reason: String { inbox.reason }
}
