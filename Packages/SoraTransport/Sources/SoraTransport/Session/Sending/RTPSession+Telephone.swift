import SoraCongestion
public import SoraMedia
import SoraRTP

/// Telephone events (RFC 4733): keys of a telephone in the place of a stream's audio.
extension RTPSession {
  /// Plays keys on an audio stream, in place of those that haven't begun; one that sounds goes on to its end. No audio of the stream is
  /// sent while a key sounds.
  ///
  /// - Parameters:
  ///   - keys: `0`...`9`, `*`, `#`, `A`...`D`, and `,` for a pause of 2 s. An empty text plays no more.
  ///   - duration: how long each sounds.
  ///   - gap: between two of them.
  ///   - stream: the stream.
  ///   - now: the present time.
  /// - Returns: false where the stream's receiver takes no telephone events.
  public func play(
    _ keys: String, duration: Duration, gap: Duration, on stream: RTPSendStream, at now: Instant
  ) -> Bool {
    guard stream.parameters.telephoneEvents != nil else { return false }
    var tones =
      stream.tones ?? TelephoneEventSender(clockRate: stream.parameters.clockRate)
    tones.play(keys, duration: duration, gap: gap, at: now)
    stream.tones = tones
    playTones(at: now)
    controller.drain(self, at: now)
    return true
  }

  /// Sends what is due of the keys that are played.
  func playTones(at now: Instant) {
    for stream in sendStreams {
      while let action = stream.tones?.next(at: now) {
        switch action {
        case .begin(let key):
          delegate?.session(
            self, plays: key, remaining: stream.tones?.remaining ?? "", on: stream, at: now)
        case .finished:
          stream.tones = nil
          delegate?.session(self, plays: nil, remaining: "", on: stream, at: now)
        case .report(let report, let isFirst, let start, let segment):
          guard let payloadType = stream.parameters.telephoneEvents else { continue }
          stream.packetize(
            report, payloadType: payloadType, isFirst: isFirst, start: start, segment: segment,
            at: now
          ) { token, size in
            if !controller.enqueue(token, size: size, priority: .audio, at: now) {
              stream.sender.counters.packetsDropped &+= 1
            }
          }
        }
      }
    }
  }

  /// Takes a packet of telephone events.
  func takeTones(
    _ header: RTPHeader, _ payload: RawSpan, on stream: RTPReceiveStream, at now: Instant
  ) {
    do throws(RTPError) {
      let changes = try stream.tones.receive(
        payload, timestamp: header.timestamp, marker: header.marker, at: now)
      for change in changes { delegate?.session(self, received: change, on: stream, at: now) }
    } catch {
      stream.counted.packetsDiscarded &+= 1
      counted.malformedTelephoneEvent += 1
    }
  }

  /// Ends the events of which nothing is heard any more.
  func endSilentTones(at now: Instant) {
    for stream in receiveStreams {
      if let change = stream.tones.poll(at: now) {
        delegate?.session(self, received: change, on: stream, at: now)
      }
    }
  }
}
