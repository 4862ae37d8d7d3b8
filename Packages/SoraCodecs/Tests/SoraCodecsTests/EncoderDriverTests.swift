import CodecTestSupport
import SoraCodecs
import SoraMedia
import Synchronization
import Testing

/// What the driver asks of a library, whatever the library.
@Suite struct EncoderDriverTests {
  private let journal = FakeJournal()

  private func driver<Kind: FakeLibrary>(
    _: Kind.Type = AbleLibrary.self, bits: Int = 1_000_000,
    _ change: (inout VideoEncoderSettings) -> Void = { _ in }
  ) throws(CodecError) -> EncoderDriver<FakeAdapter<Kind>> {
    var settings = VideoEncoderSettings(width: 64, height: 48, targetBitsPerSecond: bits)
    change(&settings)
    let result = FakeJournal.$current.withValue(journal) {
      Result { () throws(CodecError) in try EncoderDriver<FakeAdapter<Kind>>(settings) }
    }
    return try result.get()
  }

  private func encode(
    _ encoder: any VideoEncoder, _ index: Int, _ width: Int = 64, _ height: Int = 48,
    force: Bool = false, fps: Int = 30, format: PixelFormat = .i420
  ) throws -> EncodedFrame? {
    try encoder.encode(
      Pictures.frame(width, height, index: index, format: format, fps: fps), forceKeyFrame: force,
      rtpTimestamp: UInt32(index))
  }

  /// What a wide link had room for isn't owed to a narrow one for longer than it can wait to be sent.
  @Test func aRateThatCollapsesStopsPicturesForTwoSecondsAtMost() throws {
    let plain = try driver(PlainLibrary.self, bits: 5_000_000)
    let uncontrolled = try driver(UncontrolledLibrary.self, bits: 5_000_000)
    for encoder in [plain, uncontrolled] as [any VideoEncoder] {
      journal.bytes.withLock { $0 = 200_000 }
      #expect(try encode(encoder, 0)?.isKeyFrame == true)
      encoder.setRates(targetBitsPerSecond: 50_000, framesPerSecond: 30)
      journal.bytes.withLock { $0 = 100 }
      var index = 1
      while try encode(encoder, index) == nil, index < 2_000 { index += 1 }
      #expect(index > 15 && index <= 60)
      // Nor does it make the pictures after that any coarser.
      for later in 1...60 { _ = try encode(encoder, index + later) }
    }
    let quantizers = journal.orders.withLock { $0.suffix(5).map(\.quantizer) }
    #expect(quantizers.allSatisfy { $0 < 30 }, "\(quantizers)")
  }

  @Test func aSizeStartsTheLibraryAnewWithAKeyFrame() throws {
    do {
      let encoder = try driver()
      for index in 0..<2 { _ = try encode(encoder, index) }
      let frame = try encode(encoder, 2, 33, 17)
      #expect(frame?.isKeyFrame == true && frame?.width == 32 && frame?.height == 16)
      #expect(encoder.settings.width == 33 && encoder.settings.height == 17)
    }
    #expect(
      journal.take() == [
        "open 64x48 1000000", "key", "frame", "close", "open 32x16 1000000", "key", "close",
      ])
  }

  @Test func aSizeThatCannotBeLeavesTheLibraryAsItIs() throws {
    let encoder = try driver()
    _ = try encode(encoder, 0)
    #expect(throws: CodecError.self) { try encode(encoder, 1, 8, 8) }
    _ = try encode(encoder, 2)
    #expect(journal.take() == ["open 64x48 1000000", "key", "frame"])
  }

  @Test func aLibraryThatDoesNotStartIsClosedAndStartedWithTheNextFrame() throws {
    let encoder = try driver()
    journal.setFailing("open")
    for index in 0..<2 {
      #expect(throws: FakeJournal.failure) { try encode(encoder, index, 32, 32) }
    }
    journal.setFailing(nil)
    #expect(try encode(encoder, 2, 32, 32)?.isKeyFrame == true)
    #expect(
      journal.take() == [
        "open 64x48 1000000", "close", "open 32x32 1000000", "close", "open 32x32 1000000",
        "close", "open 32x32 1000000", "key",
      ])
  }

  @Test func whatCannotStartAtAllIsClosed() {
    journal.setFailing("open")
    #expect(throws: FakeJournal.failure) { _ = try driver() }
    #expect(journal.take() == ["open 64x48 1000000", "close"])
  }

  @Test func aKeyFrameIsAskedForUntilOneIsMade() throws {
    let encoder = try driver()
    journal.bytes.withLock { $0 = 0 }
    #expect(try encode(encoder, 0) == nil)
    journal.setFailing("encode")
    #expect(throws: FakeJournal.failure) { try encode(encoder, 1) }
    journal.setFailing(nil)
    journal.bytes.withLock { $0 = 10 }
    #expect(try encode(encoder, 2)?.isKeyFrame == true)
    #expect(try encode(encoder, 3)?.isKeyFrame == false)
    #expect(try encode(encoder, 4, force: true)?.isKeyFrame == true)
    #expect(journal.take() == ["open 64x48 1000000", "key", "key", "key", "frame", "key"])
  }

  @Test func ratesAreToldOnceAndWithinTheirLimits() throws {
    let encoder = try driver { $0.maximumBitsPerSecond = 2_000_000 }
    func set(_ bits: Int, _ rate: Double = 30) throws -> [String] {
      encoder.setRates(targetBitsPerSecond: bits, framesPerSecond: rate)
      _ = try encode(encoder, 0, force: true)
      return journal.take().filter { $0 != "key" }
    }
    #expect(try set(1_000_000) == ["open 64x48 1000000"])
    #expect(try set(300_000) == ["rates 300000 30"])
    #expect(try set(300_000) == [])
    #expect(try set(5_000_000) == ["rates 2000000 30"])
    #expect(try set(3_000_000) == [])
    #expect(try set(3_000_000, 15) == ["rates 2000000 15"])
    #expect(try set(10, 15) == ["rates 1000 15"])
    #expect(try set(0, 15) == [])
    #expect(try encode(encoder, 1) == nil)
    journal.setFailing("rates")
    #expect(throws: FakeJournal.failure) { try set(500_000) }
    journal.setFailing(nil)
    // What wasn't taken is told again.
    #expect(try set(500_000) == ["rates 500000 30", "rates 500000 30"])
  }

  @Test func aLibraryThatKnowsNoTimesIsToldHowFramesCome() throws {
    let encoder = try driver(PlainLibrary.self)
    for index in 0..<60 { _ = try encode(encoder, index, fps: 30) }
    #expect(!journal.take().contains { $0.hasPrefix("rates") })
    for index in 20..<80 { _ = try encode(encoder, index, fps: 10) }
    let told = journal.take().filter { $0.hasPrefix("rates") }
    #expect(told.last == "rates 1000000 10" || told.last == "rates 1000000 11")
    #expect((2...10).contains(told.count), "\(told)")
  }

  @Test func theDriverDropsWhereTheLibraryDoesNot() throws {
    func kept(_ drops: Bool, force: Bool = false) throws -> Int {
      let encoder = try driver(PlainLibrary.self, bits: 80_000) { $0.allowsFrameDropping = drops }
      // Three times what the rate allows.
      journal.bytes.withLock { $0 = 1_000 }
      return try (0..<90).count { try encode(encoder, $0, force: force) != nil }
    }
    #expect((30...50).contains(try kept(true)))
    #expect(try kept(false) == 90)
    #expect(try kept(true, force: true) == 90)
  }

  @Test func theDriverChoosesQuantizersWhereTheLibraryHasNoRateControl() throws {
    let encoder = try driver(UncontrolledLibrary.self)
    func last(after frames: Range<Int>, bytes: Int) throws -> Int {
      journal.bytes.withLock { $0 = bytes }
      for index in frames { _ = try encode(encoder, index) }
      return try #require(journal.orders.withLock { $0.last?.quantizer })
    }
    let fitting = try last(after: 0..<30, bytes: 4_000)
    let tooLarge = try last(after: 30..<40, bytes: 12_000)
    #expect((10...51).contains(fitting) && tooLarge > fitting)
    encoder.setRates(targetBitsPerSecond: 100_000, framesPerSecond: 30)
    _ = try encode(encoder, 41)
    #expect(!journal.take().contains { $0.hasPrefix("rates") })
  }

  @Test func ordersCountFramesAndFollowTheirTimes() throws {
    let encoder = try driver()
    for (index, frame) in [0, 1, 3, 4].enumerated() {
      if index == 2 { encoder.setRates(targetBitsPerSecond: 0, framesPerSecond: 30) }
      if index == 2 { #expect(try encode(encoder, 2) == nil) }
      if index == 2 { encoder.setRates(targetBitsPerSecond: 1_000_000, framesPerSecond: 30) }
      _ = try encode(encoder, frame)
    }
    let orders = journal.orders.withLock { $0 }
    #expect(orders.map(\.number) == [0, 1, 2, 3])
    #expect(orders.map(\.duration) == [3_000, 3_000, 3_000, 3_000])
    let ticks = orders.map { ($0.ticks + 5) / 10 }
    #expect(ticks == [0, 300, 900, 1_200])
  }

  @Test(arguments: [PixelFormat.i420, .nv12])
  func chromaIsTakenApartForLibrariesThatWantPlanes(_ format: PixelFormat) throws {
    _ = try encode(try driver(), 0, format: format)
    let able = journal.chroma.withLock { $0 }
    // The second byte of interleaved chroma is the first of V.
    #expect(able.isInterleaved == (format == .nv12) && able.v == 140)
    #expect(able.u == (format == .nv12 ? 140 : 100))
    _ = try encode(try driver(PlainLibrary.self), 0, format: format)
    let plain = journal.chroma.withLock { $0 }
    #expect(!plain.isInterleaved && plain.u == 100 && plain.v == 140)
  }

  @Test func framesThatTheLibraryDropsDoNotMoveThePatternOfLayers() throws {
    let encoder = try driver { $0.scalabilityMode = .l1t3 }
    var layers: [Int] = []
    for index in 0..<12 {
      journal.bytes.withLock { $0 = index % 3 == 1 ? 0 : 10 }
      guard let frame = try encode(encoder, index) else { continue }
      layers.append(frame.temporalLayer)
    }
    #expect(layers == [0, 2, 1, 2, 0, 2, 1, 2])
  }

  @Test func framesSayWhichOthersTheyNeed() throws {
    let encoder = try driver { $0.scalabilityMode = ScalabilityMode("L2T3_KEY")! }
    let frames = try (0..<10).map { try #require(try encode(encoder, $0, force: $0 == 6)) }
    #expect(frames.map(\.temporalLayer) == [0, 2, 1, 2, 0, 2, 0, 2, 1, 2])
    // How many frames back the reference of each lies, the same in both spatial layers.
    for layer in 0..<2 {
      #expect(frames.map { $0.layers[layer].references.0 } == [0, 1, 2, 1, 4, 1, 0, 1, 2, 1])
    }
    #expect(frames.map { $0.layers[1].isInterLayerPredicted } == frames.map(\.isKeyFrame))
    #expect(frames.map { $0.layers[0].isInterLayerReference } == frames.map(\.isKeyFrame))
    #expect(
      frames.map(\.layers.isLayerSync)
        == [false, true, true, false, false, true, false, true, true, false])
    #expect(frames.map(\.layers.isReferenced) == frames.map { $0.temporalLayer < 2 })
    #expect(frames.allSatisfy { $0.layers[0].end == 100 && $0.layers[1].end == 200 })
  }

  @Test func memoryIsUsedAgain() throws {
    let encoder = try driver()
    var buffers = Set<ObjectIdentifier>()
    for index in 0..<20 {
      let frame = try #require(try encode(encoder, index))
      buffers.insert(ObjectIdentifier(frame.payload))
    }
    #expect(buffers.count == 1)
  }
}
