import Testing
@testable import SoraCamera
