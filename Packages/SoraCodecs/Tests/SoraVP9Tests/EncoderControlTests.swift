import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct EncoderControlTests {
  @Test func keyFramesComeOnlyWhenAskedFor() throws { try vp9.keyFramesComeOnlyWhenAskedFor() }

  @Test func rateFollowsItsTargetWithoutRestart() throws {
    try vp9.rateFollowsItsTargetWithoutRestart()
  }

  @Test func rateControlDropsFramesRatherThanOvershoot() throws {
    try vp9.rateControlDropsFramesRatherThanOvershoot()
  }

  @Test func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    try vp9.targetZeroPausesAndAKeyFrameRequestIsKept()
  }

  @Test func sizeChangesWithOneKeyFrameEach() throws { try vp9.sizeChangesWithOneKeyFrameEach() }

  @Test(arguments: [ScalabilityMode.l1t2, .l1t3])
  func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode) throws {
    try vp9.upperTemporalLayersCanBeDropped(mode)
  }

  @Test func badSettingsAreRefusedByName() { vp9.badSettingsAreRefusedByName() }
}
