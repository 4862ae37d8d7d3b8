import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct LayerTests {
  @Test(arguments: CodecUnderTest.spatialModes)
  func everyLayerCanBeTheHighestThatIsReceived(_ mode: ScalabilityMode) throws {
    try av1.everyLayerCanBeTheHighestThatIsReceived(mode)
  }

  @Test(arguments: CodecUnderTest.spatialModes)
  func descriptionsTellWhatAFrameNeeds(_ mode: ScalabilityMode) throws {
    try av1.descriptionsTellWhatAFrameNeeds(mode)
  }

  @Test func oddSizesKeepTheirSizeInTheHighestLayer() throws {
    try av1.oddSizesOfSpatialLayers(roundsDown: false)
  }

  @Test func layersFollowSizesAndRates() throws { try av1.layersFollowSizesAndRates() }
}
