import CodecTestSupport
import SoraAV1

/// What these tests are about.
let av1 = CodecUnderTest("AV1", AV1CodecFactory())
