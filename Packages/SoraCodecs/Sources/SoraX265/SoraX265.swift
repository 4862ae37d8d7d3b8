import SoraCodecs
