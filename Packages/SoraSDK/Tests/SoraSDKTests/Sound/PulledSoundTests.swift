import Foundation
import Sora
import SoraAudio
import SoraAudioDevices
import SoraMedia
import Testing
import WebRTC

/// Sound that an app makes and takes by clocks of its own, through a call.
@Suite(.timeLimit(.minutes(5))) struct PulledSoundTests {
  /// A telephone line: 8,000 samples per second, both ways.
  private static let sampleRate = 8_000

  @Test func aToneComesToWhoPullsIt() async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let channel = try await Attempt(server.configuration(), face: .tasks).channel()
    let stream = try #require(channel.senderStream)
    let tone = AudioPullSource(sampleRate: Self.sampleRate) { frame, position in
      for index in frame.samples.indices {
        let phase = 2 * Double.pi * 440 * Double(position + Int64(index)) / Double(Self.sampleRate)
        frame.samples[index] = Int16(sin(phase) * 8_000)
      }
      return true
    } deliver: { frame in
      stream.send(audioFrame: frame)
    }
    let track = try #require(far.peer.receivers.compactMap { $0.track as? RTCAudioTrack }.first)
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    track.add(sink: input)
    let reader = try #require(AudioReader(mixer, sampleRate: Self.sampleRate))
    let heard = Recorder<[Int16]>()
    let line = AudioPullSource(sampleRate: Self.sampleRate) { frame, _ in
      var samples = frame.samples.mutableSpan
      reader.read(into: &samples)
      return true
    } deliver: { frame in
      heard.append(frame.samples)
    }
    // A second of nothing but the tone, from its hundredth block on.
    let isLoud: @Sendable ([Int16]) -> Bool = { ($0.max() ?? 0) > 6_000 }
    await heard.wait { $0.count(where: isLoud) >= 200 }
    line?.stop()
    tone?.stop()
    let samples = heard.elements.filter(isLoud).dropFirst(100).prefix(100).flatMap { $0 }
    let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(crossings - 440) <= 4, "\(crossings) periods in a second")
    #expect(input.statistics.samplesDropped == 0)
    track.remove(sink: input)
    await channel.disconnect()
  }
}
