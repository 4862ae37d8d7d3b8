import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct EncoderControlTests {
  @Test func keyFramesComeOnlyWhenAskedFor() throws { try vp8.keyFramesComeOnlyWhenAskedFor() }

  @Test func rateFollowsItsTargetWithoutRestart() throws {
    try vp8.rateFollowsItsTargetWithoutRestart()
  }

  @Test func rateControlDropsFramesRatherThanOvershoot() throws {
    try vp8.rateControlDropsFramesRatherThanOvershoot()
  }

  @Test func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    try vp8.targetZeroPausesAndAKeyFrameRequestIsKept()
  }

  @Test func sizeChangesWithOneKeyFrameEach() throws { try vp8.sizeChangesWithOneKeyFrameEach() }

  @Test(arguments: [ScalabilityMode.l1t2, .l1t3])
  func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode) throws {
    try vp8.upperTemporalLayersCanBeDropped(mode)
  }

  @Test func badSettingsAreRefusedByName() {
    vp8.badSettingsAreRefusedByName(refused: ScalabilityMode("L3T3_KEY"))
  }
}
