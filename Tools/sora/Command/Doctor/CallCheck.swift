import Foundation
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import SoraTransport
import Synchronization
import WebRTC

/// A short call with the server, from this machine to itself: a tone that has to come back.
struct CallCheck {
  let configuration: @Sendable (Role) -> SoraSDK.Configuration
  let interruption: Interruption

  private static let seconds = 8

  func run(_ tell: (Finding) -> Void) async {
    let publishing = Call(interruption)
    let watching = Call(interruption)
    let publisher: MediaChannel
    let watcher: MediaChannel
    do {
      publisher = try await publishing.connect(configuration(.sendonly), telling: nil)
    } catch {
      return tell(failed("ice", ErrorText.line(error)))
    }
    tellPath(await publisher.connectionTimeline(), await path(publisher), tell)
    do {
      watcher = try await watching.connect(configuration(.recvonly), telling: nil)
    } catch {
      await publishing.disconnect(publisher)
      return tell(failed("media", ErrorText.line(error)))
    }
    tell(await media(from: publisher, to: watching))
    await watching.disconnect(watcher)
    await publishing.disconnect(publisher)
  }

  /// An error's line says what to do after its semicolon.
  private func failed(_ check: String, _ line: String) -> Finding {
    let parts = line.split(separator: ";", maxSplits: 1).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return .fail(
      check, parts[0],
      parts.count > 1 ? parts[1] : "check that UDP passes between here and the server's candidates")
  }

  private func tellPath(
    _ timeline: ConnectionTimeline?, _ path: String?, _ tell: (Finding) -> Void
  ) {
    func time(_ phase: ConnectionTimeline.Phase) -> String {
      timeline?[phase].map { String(format: "%.1f ms", $0.inMilliseconds) } ?? "done"
    }
    if let path, path.contains("relay") {
      tell(
        .warn(
          "ice", "\(time(.checks)), \(path)",
          "media goes through a TURN server; a direct way is faster, where firewalls allow it"))
    } else {
      tell(.ok("ice", time(.checks) + (path.map { ", \($0)" } ?? "")))
    }
    tell(.ok("dtls", time(.dtls)))
  }

  /// The pair of candidates in use.
  private func path(_ channel: MediaChannel) async -> String? {
    let statistics = await channel.statistics()
    guard let pair = statistics.selectedCandidatePair,
      let local = statistics.localCandidates.first(where: { $0.id == pair.localCandidateId }),
      let remote = statistics.remoteCandidates.first(where: { $0.id == pair.remoteCandidateId })
    else { return nil }
    return "\(local.protocol) \(local.address) (\(local.candidateType))"
      + " to \(remote.address) port \(remote.port)"
  }

  private func media(from publisher: MediaChannel, to watching: Call) async -> Finding {
    let input: AudioInput
    do {
      guard let stream = publisher.senderStream,
        let tone = try AudioInput(.tone, framesPerSecond: 30)
      else { return failed("media", "the server's offer takes no sound") }
      input = tone
      input.start(at: SystemClock.now) { stream.send(audioFrame: $0) }
    } catch {
      return failed("media", "\(error)")
    }
    defer { input.stop() }
    let ear = Ear()
    let start = SystemClock.now
    for await event in watching.events {
      switch event {
      case .added(let stream): stream.addAudioSink(ear)
      case .removed, .named, .displayLost, .reconnecting, .reconnected: continue
      case .interrupted, .outputEnded: return failed("media", "interrupted")
      case .ended(let error):
        return failed("media", error.map(ErrorText.line) ?? "the server ended the call")
      case .tick:
        if ear.hasHeard {
          let time = Int((SystemClock.now - start).inMilliseconds)
          return .ok("media", "a tone went to the server and came back within \(time) ms")
        }
        guard (SystemClock.now - start).inSeconds < Double(Self.seconds) else {
          return .fail(
            "media", "nothing came back within \(Self.seconds) s",
            "check that nothing between here and the server drops UDP, and the server's log")
        }
      }
    }
    return failed("media", "the call ended")
  }
}

/// Hears whether there is any sound.
private final class Ear: AudioSink {
  private let meter = AudioMeter()

  var hasHeard: Bool { meter.snapshot.levelDb() != nil }

  func receive(_ frame: AudioFrame) { meter.add(frame, at: SystemClock.now) }
}
