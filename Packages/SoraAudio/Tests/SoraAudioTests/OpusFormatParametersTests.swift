import SoraAudio
import Testing

/// What a receiver writes into SDP decides how it is sent to (RFC 7587 §6.1).
@Suite struct OpusFormatParametersTests {
  private func read(_ values: [String: String]) -> OpusFormatParameters {
    OpusFormatParameters { values[$0] }
  }

  @Test func nothingSaidMeansMonoSpeechOf20Milliseconds() {
    let settings = read([:]).encoderSettings()
    #expect(settings.channels == 1)
    #expect(settings.application == .voip)
    #expect(settings.bitsPerSecond == 32_000)
    #expect(settings.frameDuration == .milliseconds20)
    #expect(settings.maximumBandwidth == .full)
    #expect(settings.rateControl == .constrainedVariable)
    #expect(!settings.usesInBandFEC)
    #expect(!settings.usesDTX)
  }

  @Test func everyWishIsHonoured() throws {
    let settings = read([
      "stereo": "1", "useinbandfec": "1", "usedtx": "1", "cbr": "1",
      "maxaveragebitrate": "96000", "maxplaybackrate": "16000", "ptime": "40",
    ]).encoderSettings()
    #expect(settings.channels == 2)
    #expect(settings.application == .audio)
    #expect(settings.usesInBandFEC)
    #expect(settings.usesDTX)
    #expect(settings.rateControl == .constant)
    #expect(settings.bitsPerSecond == 96_000)
    #expect(settings.maximumBandwidth == .wide)
    #expect(settings.frameDuration == .milliseconds40)
    try settings.validate()
    #expect(read(["sprop-stereo": "1"]).sendsStereo)
  }

  @Test(
    arguments: zip(
      [8_000, 12_000, 16_000, 24_000, 48_000],
      [OpusBandwidth.narrow, .medium, .wide, .superWide, .full]))
  func thePlaybackRateBoundsTheBandwidth(_ rate: Int, _ bandwidth: OpusBandwidth) {
    #expect(read(["maxplaybackrate": "\(rate)"]).encoderSettings().maximumBandwidth == bandwidth)
  }

  @Test func bitratesComeFromTheReceiverWithinItsSection() {
    func bits(_ values: [String: String], limit: Int? = nil) -> Int? {
      read(values).encoderSettings(bitrateLimit: limit).bitsPerSecond
    }
    #expect(bits(["stereo": "1"]) == 64_000)
    #expect(bits(["maxplaybackrate": "8000"]) == 12_000)
    #expect(bits(["maxplaybackrate": "16000"]) == 20_000)
    #expect(bits(["maxaveragebitrate": "20000"]) == 20_000)
    #expect(bits(["maxaveragebitrate": "1"]) == 6_000)
    #expect(bits(["maxaveragebitrate": "9999999"]) == 510_000)
    #expect(bits(["maxaveragebitrate": "64000"], limit: 24_000) == 24_000)
    #expect(bits([:], limit: 128_000) == 128_000)
    #expect(bits([:], limit: 1_000) == 6_000)
  }

  @Test func packetTimesKeepWithinTheBounds() {
    func durations(_ values: [String: String]) -> [Double] {
      read(values).packetDurations.map(\.milliseconds)
    }
    #expect(durations(["minptime": "10"]) == [20, 40, 60])
    #expect(durations(["minptime": "40"]) == [40, 60])
    #expect(durations(["maxptime": "40"]) == [20, 40])
    #expect(durations(["maxptime": "10"]) == [10])
    #expect(durations(["maxptime": "3"]) == [2.5])
    #expect(durations(["minptime": "100"]) == [100])
    #expect(durations(["ptime": "60"]) == [60])
    #expect(durations(["ptime": "2.5"]) == [2.5])
    #expect(durations(["ptime": "5", "minptime": "10"]) == [10])
    #expect(durations(["ptime": "120", "maxptime": "60"]) == [60])
    // A bound that contradicts another, and nonsense.
    #expect(durations(["minptime": "60", "maxptime": "20"]) == [60])
    #expect(durations(["ptime": "-20", "maxptime": "nan", "minptime": ""]) == [20, 40, 60])
    #expect(durations(["ptime": "99999999999999999999"]) == [20, 40, 60])
  }

  @Test func anythingWrittenGivesSettingsThatAnEncoderTakes() throws {
    let texts = [
      "", "0", "1", "-1", "7", "44100", "1e9", "inf", "nan", "99999999999999999999", "x",
    ]
    let names = [
      "maxplaybackrate", "maxaveragebitrate", "stereo", "cbr", "useinbandfec", "usedtx", "ptime",
      "minptime", "maxptime",
    ]
    for name in names {
      for text in texts {
        for limit in [nil, 0, Int.max] {
          try read([name: text]).encoderSettings(bitrateLimit: limit).validate()
        }
      }
    }
  }
}
