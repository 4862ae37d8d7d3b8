import SoraCongestion
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire

/// A sender that follows its estimate, a receiver that sends feedback, and a link between them, in virtual time.
final class CongestionScenario {
  let network: SimulatedNetwork
  let link: SimulatedLink
  let sender: Sender
  let receiver: Receiver

  init(
    seed: UInt64 = 1, _ forward: LinkConditions, backward: LinkConditions? = nil,
    configuration: BandwidthEstimator.Configuration = .init(), appMaximum: Bitrate = .unlimited
  ) {
    network = SimulatedNetwork(seed: seed, retention: .digestOnly)
    let a = network.addHost("sender", "10.0.0.1")
    let b = network.addHost("receiver", "10.0.0.2")
    var back = backward ?? forward
    if backward == nil {
      back.bitsPerSecond = nil
      back.loss = 0
    }
    link = network.link(a, b, forward: forward, backward: back)
    let from = TransportAddress(ip: a.addresses[0], port: 1)
    let to = TransportAddress(ip: b.addresses[0], port: 2)
    sender = Sender(network, from, to, configuration, appMaximum)
    receiver = Receiver(network, to, from)
    network.bind(sender, to: from)
    network.bind(receiver, to: to)
    network.every(.milliseconds(33)) { [sender] now in sender.frame(at: now) }
    network.every(.milliseconds(20)) { [sender] now in sender.audio(at: now) }
  }

  /// Runs for a time, and returns the estimate's average over it in bits per second, and its extremes.
  @discardableResult
  func run(_ duration: Duration) -> (mean: Double, low: Double, high: Double) {
    var sum = 0.0
    var low = Double.infinity
    var high = 0.0
    var count = 0.0
    let sampler = network.every(.milliseconds(100)) { [sender] _ in
      let rate = Double(sender.estimator.estimate.bitsPerSecond)
      sum += rate
      low = min(low, rate)
      high = max(high, rate)
      count += 1
    }
    network.run(for: duration)
    network.cancel(sampler)
    return (sum / max(count, 1), low, high)
  }

  /// Runs until the estimate reaches a rate; the seconds that it took, or `nil`.
  func secondsUntil(_ rate: Bitrate, within limit: Duration) -> Double? {
    let start = network.now
    let reached = network.run(
      until: { sender.estimator.estimate >= rate }, within: limit)
    return reached ? (network.now - start).inSeconds : nil
  }

  /// Payload bits per second that came out at the far end over the next `duration`, and the queue's longest time.
  func goodput(over duration: Duration) -> Double {
    let before = link.forwardStatistics.deliveredBytes
    network.run(for: duration)
    return Double(link.forwardStatistics.deliveredBytes - before) * 8 / duration.inSeconds
  }

  func summary(_ name: String) -> String {
    let statistics = link.forwardStatistics
    return "\(name): estimate \(sender.estimator.estimate), longest queue "
      + "\(statistics.longestQueueTime.inMilliseconds) ms, sent \(statistics.sentPackets), "
      + "lost \(statistics.lostAtRandom + statistics.lostInBursts), queue drops \(statistics.droppedByQueue), "
      + "rtt \(sender.estimator.roundTripTime?.inMilliseconds ?? -1) ms, "
      + "over-uses \(sender.estimator.statistics.overuses), "
      + "probes \(sender.estimator.statistics.probesMeasured)/\(sender.estimator.statistics.probesRequested)"
  }
}

/// Sends 30 frames a second at the estimate, paced, with probes padded.
final class Sender: SimulatedEndpoint {
  let estimator: BandwidthEstimator
  let pacer: Pacer
  var appMaximum: Bitrate
  /// Whether audio and video are produced.
  var isActive = true
  private(set) var paddingBytes = 0
  private unowned let network: SimulatedNetwork
  private let local: TransportAddress
  private let remote: TransportAddress
  private var sequence: Int64 = 0
  private var results: [PacketFeedback] = []
  private var sizes: [Int: Int] = [:]
  private var nextToken = 0
  private var sent: [(time: Instant, size: Int, cluster: Int?)] = []

  init(
    _ network: SimulatedNetwork, _ local: TransportAddress, _ remote: TransportAddress,
    _ configuration: BandwidthEstimator.Configuration, _ appMaximum: Bitrate
  ) {
    self.network = network
    self.local = local
    self.remote = remote
    self.appMaximum = appMaximum
    estimator = BandwidthEstimator(configuration: configuration)
    pacer = Pacer(rate: estimator.estimate)
  }

  func frame(at now: Instant) {
    guard isActive else { return }
    let rate = min(estimator.estimate - .kilobits(48), appMaximum)
    var left = max(200, rate.bitsPerSecond / 8 * 33 / 1000)
    while left > 0 {
      let size = min(1200, max(left, 60))
      queue(size, .video, at: now)
      left -= size
    }
    flush(at: now)
  }

  func audio(at now: Instant) {
    guard isActive else { return }
    queue(120, .audio, at: now)
    flush(at: now)
  }

  private func queue(_ size: Int, _ priority: Pacer.Priority, at now: Instant) {
    nextToken += 1
    if pacer.enqueue(size: size, priority: priority, token: nextToken, at: now) {
      sizes[nextToken] = size
    }
  }

  private func flush(at now: Instant) {
    while let request = estimator.nextProbe() { pacer.startProbe(request, at: now) }
    while true {
      if let token = pacer.next(at: now) {
        transmit(sizes.removeValue(forKey: token) ?? 0, pacer.probeCluster, at: now)
        continue
      }
      let padding = pacer.paddingSize(at: now)
      if padding == 0 { break }
      let cluster = pacer.probeCluster
      paddingBytes += padding
      transmit(padding, cluster, at: now)
      pacer.paddingSent(size: padding, at: now)
    }
  }

  private func transmit(_ size: Int, _ cluster: Int?, at now: Instant) {
    let number = sequence
    sequence += 1
    sent.append((now, size, cluster))
    estimator.packetSent(sequence: number, size: size, at: now, probeCluster: cluster)
    network.send(from: local, to: remote, capacity: max(size, 16)) { memory in
      memory.storeBytes(of: number, as: Int64.self)
      return size
    }
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    results.removeAll(keepingCapacity: true)
    let first = bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
    let count = (bytes.count - 8) / 8
    for index in 0..<count {
      let arrival = bytes.loadUnaligned(fromByteOffset: 8 + 8 * index, as: Int64.self)
      let number = first + Int64(index)
      let packet = sent[Int(number)]
      results.append(
        PacketFeedback(
          sequence: number, size: packet.size, sendTime: packet.time,
          arrivalTime: arrival < 0 ? nil : Instant(nanoseconds: arrival),
          probeCluster: packet.cluster))
    }
    estimator.feedback(results, at: now)
    pacer.setRate(estimator.estimate)
    flush(at: now)
  }

  func poll(at now: Instant) {
    if let deadline = estimator.nextDeadline, deadline <= now {
      estimator.poll(at: now)
      pacer.setRate(estimator.estimate)
    }
    flush(at: now)
  }

  var nextDeadline: Instant? { earliest(pacer.nextDeadline, estimator.nextDeadline) }
}

/// Reports arrivals each 50 ms, on a clock of its own with 250 us resolution, as transport-wide feedback does.
final class Receiver: SimulatedEndpoint {
  private unowned let network: SimulatedNetwork
  private let local: TransportAddress
  private let remote: TransportAddress
  private var arrivals: [Int64: Int64] = [:]
  private var nextReported: Int64 = 0
  private var highest: Int64 = -1
  var nextDeadline: Instant?
  var sendsFeedback = true

  init(_ network: SimulatedNetwork, _ local: TransportAddress, _ remote: TransportAddress) {
    self.network = network
    self.local = local
    self.remote = remote
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    let number = bytes.loadUnaligned(as: Int64.self)
    arrivals[number] = (now.nanoseconds / 250_000) * 250_000 + 77_000_000_000_000
    highest = max(highest, number)
    // What was named as missing comes late: the next message goes back to it.
    nextReported = min(nextReported, number)
    if nextDeadline == nil { nextDeadline = now + .milliseconds(50) }
  }

  func poll(at now: Instant) {
    nextDeadline = nil
    while nextReported <= highest {
      let count = Int(min(highest - nextReported + 1, 150))
      let first = nextReported
      if sendsFeedback {
        network.send(from: local, to: remote, capacity: 8 + 8 * count) { memory in
          memory.storeBytes(of: first, as: Int64.self)
          for index in 0..<count {
            memory.storeBytes(
              of: arrivals.removeValue(forKey: first + Int64(index)) ?? -1,
              toByteOffset: 8 + 8 * index, as: Int64.self)
          }
          return 8 + 8 * count
        }
      }
      nextReported += Int64(count)
    }
  }
}
