import SoraAudio
import SoraMedia
import Testing

/// Every control of the encoder changes what libopus does.
@Suite struct OpusControlTests {
  @Test(arguments: [6_000, 12_000, 24_000, 64_000, 128_000, 256_000])
  func theBitrateIsKept(_ bits: Int) throws {
    let voice = Signals.voice(count: 48_000 * 2)
    for control in OpusRateControl.allCases {
      let packets = try OpusBench.encode(
        OpusEncoderSettings(
          channels: 1, bitsPerSecond: bits, complexity: 1, usesInBandFEC: false,
          rateControl: control), voice)
      let rate = OpusBench.rate(packets, .milliseconds20)
      // Variable bitrate is an aim: easy audio takes less, audio that is hard throughout takes more.
      let range =
        switch control {
        case .constant: 0.97...1.03
        case .constrainedVariable: 0.5...1.15
        case .variable: 0.5...1.6
        }
      #expect(range.contains(rate / Double(bits)), "\(control): \(rate)")
    }
  }

  @Test func allOf510KilobitsFitWithPacketsOf20Milliseconds() throws {
    let noise = Signals.noise(count: 48_000 * 2)
    let settings = OpusEncoderSettings(
      channels: 2, bitsPerSecond: 510_000, complexity: 1, rateControl: .constant)
    let packets = try OpusBench.encode(settings, noise)
    #expect(packets.allSatisfy { $0.count == 1_275 })
    let decoded = try OpusBench.decode(packets, channels: 2)
    #expect(Signals.rms(decoded) > Signals.rms(noise) / 2)
  }

  @Test(arguments: OpusFrameDuration.allCases)
  func constantBitrateMakesPacketsOfOneSize(_ duration: OpusFrameDuration) throws {
    let voice = Signals.voice(count: 48_000)
    var settings = OpusEncoderSettings(
      channels: 1, bitsPerSecond: 48_000, complexity: 2, frameDuration: duration,
      rateControl: .constant)
    let constant = Set(try OpusBench.encode(settings, voice).map(\.count))
    #expect(constant == [Int(48_000 * duration.milliseconds / 8_000)])
    settings.rateControl = .variable
    #expect(Set(try OpusBench.encode(settings, voice).map(\.count)).count > 1)
  }

  @Test func constrainedBitrateHasLowerPeaks() throws {
    // Quiet, then loud: what is easy, then what is hard.
    let audio =
      Signals.tone(200, count: 48_000, amplitude: 300) + Signals.noise(count: 48_000)
      + Signals.tone(200, count: 24_000, amplitude: 300) + Signals.noise(count: 48_000)
    func peak(_ control: OpusRateControl) throws -> Int {
      try OpusBench.encode(
        OpusEncoderSettings(
          channels: 1, bitsPerSecond: 64_000, complexity: 5, rateControl: control), audio
      ).map(\.count).max() ?? 0
    }
    let (free, constrained) = (try peak(.variable), try peak(.constrainedVariable))
    #expect(constrained <= free, "\(constrained), \(free)")
    #expect(constrained <= 2 * 64_000 / 8 / 50 + 40)
  }

  @Test func discontinuousTransmissionLeavesSilenceOut() throws {
    let audio = Signals.voice(count: 48_000) + [Int16](repeating: 0, count: 48_000 * 3)
    var settings = OpusEncoderSettings(
      channels: 1, application: .voip, bitsPerSecond: 32_000, usesDTX: true)
    let sparse = try OpusBench.encode(settings, audio)
    let late = sparse[100...]
    // One packet in 400 ms refreshes the comfort noise.
    #expect(late.count { $0.count > 2 } <= 6)
    #expect(late.count { $0.isEmpty } > 80)
    #expect(sparse.contains { $0.count == 1 || $0.count == 2 })
    settings.usesDTX = false
    #expect(try OpusBench.encode(settings, audio).allSatisfy { $0.count > 2 })
  }

  @Test(
    arguments: zip(
      OpusBandwidth.allCases, [4_000.0, 6_000, 8_000, 12_000, 20_000]))
  func theBandwidthIsBounded(_ bandwidth: OpusBandwidth, _ hertz: Double) throws {
    let noise = Signals.noise(count: 24_000)
    let packets = try OpusBench.encode(
      OpusEncoderSettings(
        channels: 1, bitsPerSecond: 96_000, complexity: 3, maximumBandwidth: bandwidth), noise)
    // The layer without speech has no 6 kHz: libopus takes 8 there.
    let isMedium = bandwidth == .medium
    let bound = isMedium ? OpusBandwidth.wide : bandwidth
    #expect(packets.allSatisfy { OpusPacket.bandwidth($0[0]) <= bound })
    let output = Array(try OpusBench.decode(packets, channels: 1)[4_800...])
    #expect(Signals.share(of: output, above: isMedium ? 9_200 : hertz + 1_200) < 0.01)
    #expect(Signals.share(of: output, above: hertz * 0.7) > 0.05)
  }

  @Test func complexityTradesTimeForQuality() throws {
    let voice = Signals.voice(count: 48_000)
    var seen: Set<[[UInt8]]> = []
    for complexity in [0, 5, 10] {
      seen.insert(
        try OpusBench.encode(
          OpusEncoderSettings(
            channels: 1, application: .voip, bitsPerSecond: 24_000, complexity: complexity), voice))
    }
    #expect(seen.count == 3)
  }

  @Test func theApplicationDecidesOnLayersAndDelay() throws {
    let voice = Signals.voice(count: 48_000)
    func modes(_ application: OpusApplication) throws -> (Set<OpusPacket.Mode>, Int) {
      let encoder = try OpusEncoder(
        OpusEncoderSettings(channels: 1, application: application, bitsPerSecond: 20_000))
      let packets = try OpusBench.encode(encoder, voice)
      return (Set(packets.map { OpusPacket.mode($0[0]) }), encoder.lookahead)
    }
    let speech = try modes(.voip)
    #expect(!speech.0.contains(.celt))
    let low = try modes(.restrictedLowDelay)
    #expect(low.0 == [.celt])
    #expect(low.1 == 120)
    #expect(speech.1 == 312)
  }

  @Test func theSignalHintDecidesBetweenSpeechAndMusic() throws {
    let voice = Signals.voice(count: 48_000)
    func modes(_ signal: OpusSignal) throws -> Set<OpusPacket.Mode> {
      let packets = try OpusBench.encode(
        OpusEncoderSettings(
          channels: 1, application: .audio, bitsPerSecond: 18_000, signal: signal),
        voice)
      return Set(packets[10...].map { OpusPacket.mode($0[0]) })
    }
    #expect(try modes(.music) == [.celt])
    #expect(try !modes(.voice).contains(.celt))
  }

  @Test func stereoKeepsItsSidesApartAndMonoDoesNot() throws {
    let sides = Signals.interleaved(
      Signals.tone(440, count: 96_000), Signals.tone(1_300, count: 96_000))
    var settings = OpusEncoderSettings(channels: 2, bitsPerSecond: 128_000)
    let packets = try OpusBench.encode(settings, sides)
    #expect(packets.allSatisfy { OpusPacket.channels($0[0]) == 2 })
    let stereo = Array(try OpusBench.decode(packets, channels: 2)[48_000...])
    #expect(Signals.toneSNR(Signals.channel(0, of: 2, stereo), frequency: 440) > 25)
    #expect(Signals.toneSNR(Signals.channel(1, of: 2, stereo), frequency: 1_300) > 25)

    settings.forcesMono = true
    let mono = try OpusBench.encode(settings, sides)
    #expect(mono.allSatisfy { OpusPacket.channels($0[0]) == 1 })
    let mixed = try OpusBench.decode(mono, channels: 2)
    #expect(Signals.channel(0, of: 2, mixed) == Signals.channel(1, of: 2, mixed))
    #expect(Signals.toneSNR(Signals.channel(0, of: 2, mixed), frequency: 440) < 3)
  }

  @Test func redundancyIsThereWhereLossIsExpected() throws {
    let voice = Signals.voice(count: 48_000 * 2)
    func share(fec: Bool, loss: Int) throws -> Double {
      let packets = try OpusBench.encode(
        OpusEncoderSettings(
          channels: 1, application: .voip, bitsPerSecond: 32_000, usesInBandFEC: fec,
          packetLossPercent: loss), voice)
      let carrying = packets.count {
        $0.withUnsafeBytes { OpusPacket.redundantSampleCount($0) > 0 }
      }
      return Double(carrying) / Double(packets.count)
    }
    #expect(try share(fec: true, loss: 15) > 0.5)
    #expect(try share(fec: true, loss: 0) == 0)
    #expect(try share(fec: false, loss: 15) == 0)
  }

  @Test func redundancyIsBetterThanConcealment() throws {
    let voice = Signals.voice(count: 48_000 * 4)
    let encoded = try OpusBench.encode(
      OpusEncoderSettings(
        channels: 1, application: .voip, bitsPerSecond: 32_000, packetLossPercent: 20), voice)
    let whole = try OpusBench.decode(encoded, channels: 1)
    let withFEC = try OpusDecoder(channels: 1)
    let withPLC = try OpusDecoder(channels: 1)
    var restored: [Int16] = []
    var concealed: [Int16] = []
    var reference: [Int16] = []
    var buffer = [Int16](repeating: 0, count: 960)
    for (index, packet) in encoded.enumerated() {
      if index % 8 == 5, index + 1 < encoded.count {
        let count = try buffer.withUnsafeMutableBufferPointer { output in
          try encoded[index + 1].withUnsafeBytes {
            try withFEC.decodeRedundancy(of: $0, sampleCount: 960, into: output)
          }
        }
        #expect(count == 960)
        restored += buffer
        _ = try buffer.withUnsafeMutableBufferPointer {
          try withPLC.conceal(sampleCount: 960, into: $0)
        }
        concealed += buffer
        reference += whole[(index * 960)..<(index * 960 + 960)]
      } else {
        _ = try OpusBench.decode(withFEC, packet)
        _ = try OpusBench.decode(withPLC, packet)
      }
    }
    let fec = Signals.snr(restored, reference)
    let plc = Signals.snr(concealed, reference)
    #expect(fec > plc + 3, "redundancy \(fec) dB, concealment \(plc) dB")
  }

  @Test func packetsKeepWithinTheirSize() throws {
    let noise = Signals.noise(count: 48_000)
    let packets = try OpusBench.encode(
      OpusEncoderSettings(
        channels: 1, bitsPerSecond: 256_000, complexity: 1, rateControl: .variable,
        maximumPacketSize: 300), noise)
    #expect(packets.allSatisfy { $0.count <= 300 })
    #expect(packets.contains { $0.count > 280 })
  }

  @Test func everythingChangesWhileItRuns() throws {
    var settings = OpusEncoderSettings(
      channels: 1, application: .voip, bitsPerSecond: 64_000, complexity: 3,
      rateControl: .constant)
    let encoder = try OpusEncoder(settings)
    let voice = Signals.voice(count: 48_000 * 6)
    let decoder = try OpusDecoder(channels: 1)
    var position = 0
    var output: [Int16] = []
    for (duration, bits, bandwidth) in [
      (OpusFrameDuration.milliseconds20, 64_000, OpusBandwidth.full),
      (.milliseconds60, 16_000, .wide), (.milliseconds10, 96_000, .full),
      (.milliseconds120, 8_000, .medium), (.milliseconds2_5, 128_000, .full),
    ] {
      settings.frameDuration = duration
      settings.bitsPerSecond = bits
      settings.maximumBandwidth = bandwidth
      settings.packetLossPercent = bits / 10_000
      settings.complexity = 1 + bits % 7
      try encoder.update(settings)
      #expect(encoder.settings == settings)
      let packets = try OpusBench.encode(encoder, Array(voice[position..<(position + 57_600)]))
      position += 57_600
      // The first packets still move over.
      let settled = Array(packets[(packets.count / 4)...])
      #expect(abs(OpusBench.rate(settled, duration) / Double(bits) - 1) < 0.06)
      #expect(
        settled.allSatisfy { OpusPacket.bandwidth($0[0]) <= bandwidth },
        "\(duration) \(bandwidth) \(settled.map { OpusPacket.bandwidth($0[0]) })")
      output += try packets.flatMap { try OpusBench.decode(decoder, $0) }
    }
    #expect(output.count == 48_000 * 6)
    // No hole where one setting follows another.
    for start in stride(from: 4_800, to: output.count - 4_800, by: 4_800) {
      #expect(Signals.rms(output[start..<(start + 4_800)]) > 400)
    }
  }

  @Test func settingsOutOfRangeAreRefusedWithTheirNameAndChangeNothing() throws {
    let good = OpusEncoderSettings(channels: 1, bitsPerSecond: 32_000)
    let encoder = try OpusEncoder(good)
    func refused(_ change: (inout OpusEncoderSettings) -> Void) -> String? {
      var settings = good
      change(&settings)
      do {
        try encoder.update(settings)
      } catch AudioCodecError.invalidSetting(let name, _, _) {
        return name
      } catch {}
      return nil
    }
    #expect(refused { $0.bitsPerSecond = 5_999 } == "bitsPerSecond")
    #expect(refused { $0.bitsPerSecond = 510_001 } == "bitsPerSecond")
    #expect(refused { $0.complexity = 11 } == "complexity")
    #expect(refused { $0.packetLossPercent = -1 } == "packetLossPercent")
    #expect(refused { $0.maximumPacketSize = 1 } == "maximumPacketSize")
    #expect(refused { $0.channels = 2 } == "channels")
    #expect(refused { $0.application = .voip } == "application")
    #expect(encoder.settings == good)
    #expect(encoder.effectiveBitsPerSecond == 32_000)
    #expect(throws: AudioCodecError.self) { try OpusEncoder(OpusEncoderSettings(channels: 3)) }
    #expect(throws: AudioCodecError.self) { try OpusDecoder(channels: 0) }
  }
}
