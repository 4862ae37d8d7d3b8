import SoraCodecs
import Testing
