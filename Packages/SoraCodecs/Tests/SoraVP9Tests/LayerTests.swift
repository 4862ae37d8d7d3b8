import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct LayerTests {
  @Test(arguments: CodecUnderTest.spatialModes)
  func everyLayerCanBeTheHighestThatIsReceived(_ mode: ScalabilityMode) throws {
    try vp9.everyLayerCanBeTheHighestThatIsReceived(mode)
  }

  @Test(arguments: CodecUnderTest.spatialModes)
  func descriptionsTellWhatAFrameNeeds(_ mode: ScalabilityMode) throws {
    try vp9.descriptionsTellWhatAFrameNeeds(mode)
  }

  @Test func oddSizesOfSpatialLayersAreRoundedDown() throws {
    try vp9.oddSizesOfSpatialLayers(roundsDown: true)
  }

  @Test func layersFollowSizesAndRates() throws { try vp9.layersFollowSizesAndRates() }
}
