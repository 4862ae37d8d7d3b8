import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct EncoderControlTests {
  @Test func keyFramesComeOnlyWhenAskedFor() throws { try av1.keyFramesComeOnlyWhenAskedFor() }

  @Test func rateFollowsItsTargetWithoutRestart() throws {
    try av1.rateFollowsItsTargetWithoutRestart()
  }

  @Test func rateControlDropsFramesRatherThanOvershoot() throws {
    try av1.rateControlDropsFramesRatherThanOvershoot(seconds: 8)
  }

  @Test func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    try av1.targetZeroPausesAndAKeyFrameRequestIsKept()
  }

  @Test func sizeChangesWithOneKeyFrameEach() throws { try av1.sizeChangesWithOneKeyFrameEach() }

  @Test(arguments: [ScalabilityMode.l1t2, .l1t3])
  func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode) throws {
    try av1.upperTemporalLayersCanBeDropped(mode)
  }

  @Test func badSettingsAreRefusedByName() { av1.badSettingsAreRefusedByName() }
}
