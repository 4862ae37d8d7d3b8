import CSoraUsrsctp
import SoraMedia
import SoraSCTP

/// One end of an association to be measured, which sends its packets over `link`.
protocol BenchEnd: AnyObject {
  init(_ link: BenchLink, seed: UInt64) throws
  var isUp: Bool { get }
  var receivedMessages: Int { get }
  var receivedBytes: Int { get }
  func listen(at now: Instant)
  func connect(at now: Instant)
  func receive(_ packet: UnsafeRawBufferPointer, at now: Instant)
  /// Sends what may leave, and takes what was told.
  func work(at now: Instant)
  /// False where there is no room.
  func send(_ message: [UInt8], at now: Instant) -> Bool
  var nextDeadline: Instant? { get }
  func poll(at now: Instant)
}

/// Both are given the same limits: those of this project's defaults.
enum BenchLimits {
  static let mtu = 1_184
  static let sendBuffer = 8 << 20
  static let receiveBuffer = 5 << 20
}

struct BenchFailure: Error, CustomStringConvertible {
  var description: String
}

final class OwnBenchEnd: BenchEnd {
  private let link: BenchLink
  private let association: SCTPAssociation
  private(set) var isUp = false
  private(set) var receivedMessages = 0
  private(set) var receivedBytes = 0

  init(_ link: BenchLink, seed: UInt64) {
    self.link = link
    var configuration = SCTPConfiguration()
    configuration.mtu = BenchLimits.mtu
    configuration.maximumMTU = BenchLimits.mtu
    configuration.sendBufferLimit = BenchLimits.sendBuffer
    configuration.receiveWindow = BenchLimits.receiveBuffer
    configuration.outgoingStreams = 16
    configuration.incomingStreams = 16
    // As the other's default.
    configuration.interleaving = false
    association = SCTPAssociation(configuration: configuration, random: RandomSource(seed: seed))
  }

  func listen(at now: Instant) {}
  func connect(at now: Instant) { association.connect(at: now) }
  func receive(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    association.receive(packet.bytes, at: now)
  }

  func work(at now: Instant) {
    while let event = association.nextEvent() {
      switch event {
      case .connected: isUp = true
      case .message(let message):
        receivedMessages += 1
        receivedBytes += message.payload.count
        association.recycle(message.payload)
      default: break
      }
    }
    association.drainPackets(at: now) { packet in
      packet.withUnsafeBytes { link.send($0) }
      return true
    }
  }

  func send(_ message: [UInt8], at now: Instant) -> Bool {
    (try? association.send(message.span.bytes, on: 1, ppid: 53, at: now)) != nil
  }

  var nextDeadline: Instant? { association.nextDeadline }
  func poll(at now: Instant) { association.poll(at: now) }
}

final class UsrsctpBenchEnd: BenchEnd {
  /// What the callbacks write to.
  private final class Inbox {
    let link: BenchLink
    var isUp = false
    var messages = 0
    var bytes = 0

    init(_ link: BenchLink) { self.link = link }
  }

  private let inbox: Inbox
  private let peer: OpaquePointer

  init(_ link: BenchLink, seed: UInt64) throws {
    inbox = Inbox(link)
    var options = sora_usrsctp_options()
    options.local_port = 5000
    options.remote_port = 5000
    options.streams = 16
    options.mtu = UInt32(BenchLimits.mtu)
    options.send_buffer = UInt32(BenchLimits.sendBuffer)
    options.receive_buffer = UInt32(BenchLimits.receiveBuffer)
    var callbacks = sora_usrsctp_callbacks()
    callbacks.context = Unmanaged.passUnretained(inbox).toOpaque()
    callbacks.packet = { context, bytes, count in
      UsrsctpBenchEnd.inbox(context).link.send(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    callbacks.message = { context, _, _, _, _, count, isEnd in
      let inbox = UsrsctpBenchEnd.inbox(context)
      inbox.bytes += count
      inbox.messages += isEnd != 0 ? 1 : 0
    }
    callbacks.event = { context, event, _ in
      if event == sora_usrsctp_up { UsrsctpBenchEnd.inbox(context).isUp = true }
    }
    guard let peer = sora_usrsctp_create(&options, &callbacks) else {
      throw BenchFailure(description: "usrsctp refuses a socket")
    }
    self.peer = peer
  }

  deinit { sora_usrsctp_destroy(peer) }

  private static func inbox(_ context: UnsafeMutableRawPointer?) -> Inbox {
    Unmanaged<Inbox>.fromOpaque(context!).takeUnretainedValue()
  }

  var isUp: Bool { inbox.isUp }
  var receivedMessages: Int { inbox.messages }
  var receivedBytes: Int { inbox.bytes }
  func listen(at now: Instant) { sora_usrsctp_listen(peer) }
  func connect(at now: Instant) { sora_usrsctp_connect(peer) }
  func receive(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    sora_usrsctp_receive(peer, packet.baseAddress, packet.count)
  }
  /// It sends and tells from within what it is called for.
  func work(at now: Instant) {}
  func send(_ message: [UInt8], at now: Instant) -> Bool {
    message.withUnsafeBytes {
      sora_usrsctp_send(peer, 1, 53, 0, sora_usrsctp_reliable, 0, $0.baseAddress, $0.count) == 0
    }
  }
  let nextDeadline: Instant? = nil
  func poll(at now: Instant) {}
}
