import SoraCodecs
import SoraSimulcast
import Testing

@Suite struct SimulcastAllocatorTests {
  private let layers: [SimulcastBitrates?] = [
    SimulcastBitrates(minimum: 30, target: 150, maximum: 200),
    SimulcastBitrates(minimum: 150, target: 500, maximum: 700),
    SimulcastBitrates(minimum: 600, target: 2_500, maximum: 2_500),
  ]

  @Test(arguments: [
    (10, [10, 0, 0]), (150, [150, 0, 0]), (260, [200, 0, 0]), (300, [150, 150, 0]),
    (1_249, [150, 700, 0]), (1_250, [150, 500, 600]), (9_000, [150, 500, 2_500]), (0, [0, 0, 0]),
  ])
  func lowestFirstAndTheRestToTheHighest(_ expectation: (Int, [Int])) {
    var allocator = SimulcastAllocator()
    let shares = allocator.allocate(expectation.0, to: layers)
    #expect(shares == expectation.1)
    #expect(allocator.isLimited == (expectation.1[2] == 0))
  }

  @Test func aLayerComesBackOnlyWithRoomToSpare() {
    var allocator = SimulcastAllocator()
    let isOn = [1_260, 1_240, 1_260, 1_369, 1_370, 1_255].map {
      allocator.allocate($0, to: layers)[2] > 0
    }
    #expect(isOn == [true, false, false, false, true, true])
  }

  @Test func layersThatArentActiveGetNothing() {
    var allocator = SimulcastAllocator()
    let shares = [[nil, layers[1], nil], [nil, nil, layers[2]], [nil, nil, nil]].map {
      allocator.allocate(1_000, to: $0)
    }
    #expect(shares == [[0, 700, 0], [0, 0, 1_000], [0, 0, 0]])
    #expect(!allocator.isLimited)
  }

  @Test func limitsOfTheSettingsHold() {
    let settings = SimulcastLayerSettings(maximumBitsPerSecond: 100_000)
    let bits = SimulcastBitrates(.vp8, settings, width: 640, height: 360)
    #expect(bits == SimulcastBitrates(minimum: 100_000, target: 100_000, maximum: 100_000))
    let better = SimulcastBitrates(.av1, width: 1280, height: 720)
    #expect(better.minimum == 390_000 && better.maximum == 1_625_000)
  }
}
