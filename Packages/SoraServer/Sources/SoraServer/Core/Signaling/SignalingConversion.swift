package import SoraICE
import SoraSignalingMessages

// Between the JSON of the wire and the values of the core.

extension SFUMessage {
  /// Reads a message of the wire; never fails: what can't be read is `malformed`.
  package init(parsing text: String) { self = Self.read(text).message }

  /// The same, with the keys in it that mean nothing here.
  static func read(_ text: String) -> (message: SFUMessage, unknownKeys: [String]) {
    do throws(SignalingError) {
      let message = try SignalingMessage(parsing: text)
      return (SFUMessage(message), message.unknownKeys)
    } catch {
      return (.malformed(error.shortText), [])
    }
  }

  init(_ message: SignalingMessage) {
    switch message {
    case .connect(let message): self = .connect(message)
    case .answer(let message): self = .answer(sdp: message.sdp)
    case .reAnswer(let message): self = .reAnswer(sdp: message.sdp)
    case .update(let message): self = .reAnswer(sdp: message.sdp)
    case .candidate(let message): self = .candidate(message.candidate)
    case .pong(let message): self = message.statistics.map { .statistics($0) } ?? .pong
    case .stats(let message): self = .statistics(message.reports)
    case .disconnect(let message): self = .disconnect(reason: message.reason)
    default: self = .other(message.typeName)
    }
  }
}

extension SignalingError {
  /// What fits a close frame: the field and what is wrong with it.
  var shortText: String { (field.map { "\($0): " } ?? "") + detail }
}

extension SignalingMessage {
  /// nil for `close`, which is no message.
  ///
  /// - Parameter turnTransport: how the owner of an address that a TURN server relays reaches that server; nil for other addresses.
  package init?(_ output: SFUOutput, turnTransport: (TransportAddress) -> ICEServerURL.Transport?) {
    switch output {
    case .offer(let offer): self = .offer(offer)
    case .reOffer(let sdp): self = .reOffer(ReOfferMessage(sdp: sdp))
    case .notify(let notification):
      self = .notify(
        NotifyMessage(
          notification, turnTransport: notification.remoteAddress.flatMap(turnTransport)))
    case .event(let message): self = .notify(message)
    case .ping(let statistics): self = .ping(PingMessage(statisticsEnabled: statistics))
    case .push(let data): self = .push(PushMessage(data: data))
    case .switched(let ignores):
      self = .switched(SwitchedMessage(ignoreDisconnectWebSocket: ignores))
    case .redirect(let location): self = .redirect(RedirectMessage(location: location))
    case .requestStatistics: self = .reqStats(ReqStatsMessage())
    case .close: return nil
    }
  }
}

extension NotifyMessage {
  init(_ notification: SFUNotification, turnTransport: ICEServerURL.Transport?) {
    self.init(eventType: notification.kind.rawValue)
    self.timestamp = TimestampText.rfc3339(unixNanoseconds: notification.unixNanoseconds)
    self.role = notification.role
    self.sessionID = notification.sessionID
    self.clientID = notification.peer.clientID
    self.bundleID = notification.peer.bundleID
    self.connectionID = notification.peer.connectionID
    self.audio = notification.audio
    self.video = notification.video
    self.connectionTime = notification.minutes
    self.channelConnections = notification.counters.total
    self.channelSendrecvConnections = notification.counters.sendrecv
    self.channelSendonlyConnections = notification.counters.sendonly
    self.channelRecvonlyConnections = notification.counters.recvonly
    self.turnTransportType = turnTransport?.rawValue
    // What changes is told again, and names.
    guard notification.kind != .updated else { return }
    self.metadata = notification.peer.metadata
    self.authnMetadata = notification.peer.authnMetadata
    self.authzMetadata = notification.peer.authzMetadata
    guard notification.kind == .created else { return }
    self.data = notification.others.map { other in
      NotifyPeer {
        $0.clientID = other.clientID
        $0.bundleID = other.bundleID
        $0.connectionID = other.connectionID
        $0.metadata = other.metadata
        $0.authnMetadata = other.authnMetadata
        $0.authzMetadata = other.authzMetadata
      }
    }
  }
}

/// RFC 3339 in UTC with microseconds, as Sora writes times.
enum TimestampText {
  static func rfc3339(unixNanoseconds: Int64) -> String {
    let microseconds = floorDivide(unixNanoseconds, 1000)
    let (seconds, fraction) = divide(microseconds, 1_000_000)
    let (days, second) = divide(seconds, 86_400)
    // The civil calendar from a day count, in eras of 400 years that begin on March 1.
    let shifted = days + 719_468
    let (era, dayOfEra) = divide(shifted, 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))."
      + "\(padded(fraction, 6))Z"
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 { divide(value, by).0 }

  private static func divide(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let text = "\(value)"
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
