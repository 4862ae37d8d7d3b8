import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport

// Which layers of the medium the subscriber is sent: of a simulcast one, and of that as many temporal ones as its link has room for.
extension SubscribedTrack {
  /// What the subscriber asks for of a simulcast.
  var wish: LayerChoice.Wish {
    get { selection.choice.wish }
    set { selection.choice.wish = newValue }
  }

  /// Aims at the layer that is best now.
  ///
  /// - Parameter affordable: what a link may take of which nothing is known.
  /// - Returns: the layer that a key frame is to be asked of; nil where none is.
  func choose(
    affordable: Bitrate, _ trigger: LayerTrigger, at now: Instant
  ) -> PublishedLayer? {
    guard source.isSimulcast else { return nil }
    let layers = source.layers.map {
      LayerChoice.Layer(
        rank: $0.rank, isFlowing: $0.flow.isFlowing, isRipe: $0.flow.isRipe(at: now))
    }
    let granted = share.map {
      $0.reason == .satisfied ? layers.count - 1 : $0.layer / LayerRates.count
    }
    let possible = source.layers.lastIndex { $0.rate(through: .max, at: now) <= affordable } ?? 0
    let chosen = selection.choice.choose(
      among: layers, granted: granted, affordable: possible,
      current: selection.aim.flatMap { source.index(of: $0) }, at: now)
    let previous = selection.current
    // Where nothing flows everything stays as it is.
    if chosen != nil || wish == .none,
      selection.aim(at: chosen.map { source.layers[$0] }, trigger)
    {
      subscriber.layerSwitched(of: self, from: previous, at: now)
    }
    aimAtTemporalLayer()
    return requestForSwitch(at: now)
  }

  /// The layer that a key frame is to be asked of, so that it can be entered.
  private func requestForSwitch(at now: Instant) -> PublishedLayer? {
    guard isActive, let next = selection.next,
      selection.isRequestDue(interval: PublishedTrack.switchInterval, at: now)
    else { return nil }
    // Who is sent nothing, or too much, can't wait.
    let isUrgent =
      selection.current.map { !$0.flow.isFlowing || $0.rank > next.rank } ?? true
    guard source.mayAskForSwitch(isUrgent: isUrgent, at: now) else { return nil }
    selection.asked(at: now)
    return next
  }

  /// A key frame of the next layer begins: from here on it is sent in place of the present one.
  func enter(_ layer: PublishedLayer, with timestamp: UInt32, at now: Instant) {
    let previous = selection.current
    let expected = expectedTimestamp(of: timestamp, on: layer)
    let isLower = previous.map { $0.rank > layer.rank } ?? false
    rewriter.rebase(
      withdrawing: isLower ? withdrawWaiting(at: now) : nil, expecting: expected)
    selection.enter(layer)
    aimAtTemporalLayer()
    gate.reset()
    subscriber.layerSwitched(of: self, from: previous, at: now)
  }

  /// The subscriber's timestamp for one of another layer: both have been captured by one clock, which the publisher's reports tell.
  private func expectedTimestamp(of timestamp: UInt32, on layer: PublishedLayer) -> UInt32? {
    guard rewriter.timestamps.isAligned,
      let captured = layer.receiver?.senderReports.captureTime(of: timestamp),
      let report = selection.current?.receiver?.senderReports.last
    else { return nil }
    let difference = Int64(bitPattern: captured.rawValue &- report.ntp.rawValue)
    let rate = Int64(source.codec.clockRate)
    // 32 bits of seconds and 32 of their fractions: reports that are more than an hour off tell nothing.
    guard difference.magnitude < 3600 << 32 else { return nil }
    let ticks = ((difference >> 16) * rate) >> 16
    return report.rtpTimestamp &+ UInt32(truncatingIfNeeded: ticks)
      &+ rewriter.timestamps.offset
  }

  /// The temporal layer that the link has room for. Until it has left a layer that is too much for it, a subscriber is sent the
  /// least of that.
  func aimAtTemporalLayer() {
    guard let share, share.reason != .satisfied else {
      gate.target = .max
      return
    }
    guard source.isSimulcast else {
      gate.target = UInt8(clamping: share.layer)
      return
    }
    let (granted, temporal) = share.layer.quotientAndRemainder(dividingBy: LayerRates.count)
    let present = selection.current.flatMap { source.index(of: $0) } ?? granted
    gate.target = present < granted ? .max : present > granted ? 0 : UInt8(temporal)
  }

  /// What each of its layers takes with those below it, for the subscriber's link to be split.
  ///
  /// With simulcast each layer has `LayerRates.count` places, so that places stay what they are when layers come and go. A higher
  /// layer is taken to need at least what a lower one does: temporal layers are given up before the layer is.
  func rates(at now: Instant) -> BandwidthAllocator.Stream.Layers {
    var rates = BandwidthAllocator.Stream.Layers()
    guard source.isSimulcast else {
      guard let layer = source.layers.first else { return rates }
      for temporal in 0...layer.highestTemporalLayer {
        rates.append(layer.rate(through: temporal, at: now))
      }
      return rates
    }
    var highest = source.layers.count - 1
    if case .rank(let rank) = wish {
      highest = source.layers.lastIndex { $0.rank <= rank } ?? 0
    }
    for layer in source.layers[...highest] {
      for temporal in 0..<LayerRates.count {
        let rate =
          layer.flow.isFlowing ? layer.rate(through: UInt8(temporal), at: now) : .zero
        rates.append(max(rates.last ?? .zero, rate))
      }
    }
    return rates
  }
}
