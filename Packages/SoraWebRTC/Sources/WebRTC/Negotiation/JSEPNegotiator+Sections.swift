import SoraSDP

/// What offers and answers of ours have in common.
extension JSEPNegotiator {
  /// Writes the sections of a description with the configuration of now.
  var writer: SectionWriter { SectionWriter(configuration: configuration, cname: cname) }

  /// An audio or video section in use. FlexFEC gets a source with the first that describes it, and keeps it.
  func mediaSection(
    _ transceiver: JSEPTransceiver, _ content: MediaSectionContent
  ) -> MediaDescription {
    if content.namesSources, content.describesRepair,
      let encoding = transceiver.sender.encodings.first, encoding.repairSSRC == nil
    {
      transceiver.sender.encodings[0].repairSSRC = identifiers.makeSSRC()
    }
    return writer.mediaSection(transceiver, content)
  }

  /// Puts our candidates into the section that stands for the transport: the first in use.
  func writeCandidates(_ description: inout SessionDescription) {
    guard let index = description.media.firstIndex(where: { !$0.isRejected }) else { return }
    description.media[index].candidates = localCandidates
    description.media[index].endOfCandidates = endOfLocalCandidates
  }

  /// The lines of the session part that offers and answers have in common.
  func finish(_ description: inout SessionDescription, bundle: [String], allowMixed: Bool) {
    if !bundle.isEmpty { description.bundle = bundle }
    if allowMixed { description.allowsMixedExtensions = true }
    description.msidSemantic = " WMS *"
    if configuration.isICELite { description.isICELite = true }
    writeCandidates(&description)
  }
}
