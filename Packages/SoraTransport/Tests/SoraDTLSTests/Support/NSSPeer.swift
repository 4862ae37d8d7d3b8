import Foundation
import SoraDTLS
import SoraMedia

/// NSS as the other end, in the version that Firefox brings along: it speaks DTLS 1.3, while Debian's own speaks a draft.
///
/// Its peer is a small program, compiled where the headers are there (they come with libsrtp2-dev).
enum NSSPeer {
  /// Where Firefox keeps its libraries.
  static let libraries = "/usr/lib/firefox-esr"

  /// Why it can't be used, or `nil`.
  static let obstacle: String? = {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") else {
      return "no C compiler"
    }
    guard FileManager.default.fileExists(atPath: "/usr/include/nss/ssl.h") else {
      return "no NSS headers: apt-get install libnss3-dev"
    }
    guard FileManager.default.fileExists(atPath: "\(libraries)/libssl3.so") else {
      return "no Firefox: apt-get install firefox-esr"
    }
    return program == nil ? "the peer doesn't compile" : nil
  }()

  private static let folder = FileManager.default.temporaryDirectory.appending(
    path: "nss-\(UUID().uuidString)")

  /// The compiled program; it goes with the tests.
  static let program: String? = {
    atexit { try? FileManager.default.removeItem(at: NSSPeer.folder) }
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "peer.c")
    let output = folder.appending(path: "peer").path()
    try? Data(source.utf8).write(to: file)
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/cc")
    compiler.arguments = [
      "-o", output, file.path(), "-I/usr/include/nss", "-I/usr/include/nspr", "-lssl3", "-lnss3",
      "-lnssutil3", "-lnspr4",
    ]
    guard (try? compiler.run()) != nil else { return nil }
    compiler.waitUntilExit()
    return compiler.terminationStatus == 0 ? output : nil
  }()

  /// Arguments: role, own port, other port, folder with "certificate" and "key8", group, cipher suite, version.
  ///
  /// Prints the version and the exported keys, then sends every message back; "update" makes it change the keys of both
  /// ends first.
  private static let source = """
    #include <nspr.h>
    #include <nss.h>
    #include <pk11pub.h>
    #include <cert.h>
    #include <keyhi.h>
    #include <ssl.h>
    #include <sslproto.h>
    #include <sslexp.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    static CERTCertificate *certificate;
    static SECKEYPrivateKey *key;

    static void die(const char *what) {
      fprintf(stderr, "%s: %s\\n", what, PORT_ErrorToName(PORT_GetError()));
      exit(1);
    }

    static SECItem load(const char *folder, const char *name) {
      char path[1024];
      snprintf(path, sizeof path, "%s/%s", folder, name);
      FILE *file = fopen(path, "rb");
      if (file == NULL) die(path);
      static unsigned char bytes[2][8192];
      static int next = 0;
      SECItem item = {siBuffer, bytes[next], 0};
      item.len = fread(bytes[next], 1, sizeof bytes[next], file);
      next++;
      fclose(file);
      return item;
    }

    static SECStatus accept_any(void *a, PRFileDesc *fd, PRBool check, PRBool server) {
      return SECSuccess;
    }

    static SECStatus show(void *a, PRFileDesc *fd, CERTDistNames *names, CERTCertificate **c,
                          SECKEYPrivateKey **k) {
      *c = CERT_DupCertificate(certificate);
      *k = SECKEY_CopyPrivateKey(key);
      return SECSuccess;
    }

    static void print_keys(PRFileDesc *fd) {
      SSLChannelInfo info;
      if (SSL_GetChannelInfo(fd, &info, sizeof info) != SECSuccess) die("info");
      unsigned char material[60];
      const char *label = "EXTRACTOR-dtls_srtp";
      if (SSL_ExportKeyingMaterial(fd, label, strlen(label), PR_FALSE, NULL, 0, material, sizeof material) != SECSuccess)
        die("export");
      printf("Version: %04X Suite: %04X\\n", info.protocolVersion, info.cipherSuite);
      printf("Keying material: ");
      for (unsigned i = 0; i < sizeof material; i++) printf("%02X", material[i]);
      printf("\\n");
    }

    int main(int count, char **arguments) {
      if (count < 8) return 2;
      int is_server = strcmp(arguments[1], "server") == 0;
      setvbuf(stdout, NULL, _IONBF, 0);
      if (NSS_NoDB_Init(NULL) != SECSuccess) die("init");
      NSS_SetDomesticPolicy();
      SECItem der = load(arguments[4], "certificate");
      SECItem key_der = load(arguments[4], "key8");
      certificate = CERT_NewTempCertificate(CERT_GetDefaultCertDB(), &der, NULL, PR_FALSE, PR_TRUE);
      if (certificate == NULL) die("certificate");
      if (PK11_ImportDERPrivateKeyInfoAndReturnKey(PK11_GetInternalSlot(), &key_der, NULL, NULL,
              PR_FALSE, PR_FALSE, KU_ALL, &key, NULL) != SECSuccess) die("key");
      PRFileDesc *udp = PR_OpenUDPSocket(PR_AF_INET);
      PRNetAddr own, other;
      PR_InitializeNetAddr(PR_IpAddrLoopback, atoi(arguments[2]), &own);
      PR_InitializeNetAddr(PR_IpAddrLoopback, atoi(arguments[3]), &other);
      if (PR_Bind(udp, &own) != PR_SUCCESS || PR_Connect(udp, &other, PR_INTERVAL_NO_TIMEOUT) != PR_SUCCESS)
        die("socket");
      PRFileDesc *fd = DTLS_ImportFD(NULL, udp);
      if (fd == NULL) die("import");
      PRUint16 version = atoi(arguments[7]) == 13 ? SSL_LIBRARY_VERSION_DTLS_1_3 : SSL_LIBRARY_VERSION_DTLS_1_2;
      SSLVersionRange range = {SSL_LIBRARY_VERSION_DTLS_1_2, version};
      SSL_VersionRangeSet(fd, &range);
      // In 1.2 the curve of the certificate has to be among the groups.
      SSLNamedGroup groups[2] = {atoi(arguments[5]), ssl_grp_ec_secp256r1};
      int only_one = atoi(arguments[7]) == 13 || groups[0] == groups[1];
      if (SSL_NamedGroupConfig(fd, groups, only_one ? 1 : 2) != SECSuccess) die("group");
      PRUint16 suite = atoi(arguments[6]);
      if (suite != 0) {
        for (int i = 0; i < SSL_NumImplementedCiphers; i++)
          SSL_CipherPrefSet(fd, SSL_ImplementedCiphers[i], SSL_ImplementedCiphers[i] == suite);
      }
      PRUint16 profile = SRTP_AES128_CM_HMAC_SHA1_80;
      if (SSL_SetSRTPCiphers(fd, &profile, 1) != SECSuccess) die("srtp");
      SSL_AuthCertificateHook(fd, accept_any, NULL);
      SSL_GetClientAuthDataHook(fd, show, NULL);
      SSL_OptionSet(fd, SSL_ENABLE_EXTENDED_MASTER_SECRET, PR_TRUE);
      if (is_server) {
        if (SSL_ConfigServerCert(fd, certificate, key, NULL, 0) != SECSuccess) die("server certificate");
        SSL_OptionSet(fd, SSL_REQUEST_CERTIFICATE, PR_TRUE);
        SSL_OptionSet(fd, SSL_REQUIRE_CERTIFICATE, SSL_REQUIRE_ALWAYS);
      } else {
        SSL_SetURL(fd, "peer");
      }
      if (SSL_ResetHandshake(fd, is_server) != SECSuccess) die("reset");
      if (SSL_ForceHandshake(fd) != SECSuccess) die("handshake");
      print_keys(fd);
      for (int i = 0; i < 100; i++) {
        unsigned char buffer[4096];
        int length = PR_Recv(fd, buffer, sizeof buffer, 0, PR_INTERVAL_NO_TIMEOUT);
        if (length <= 0) {
          printf("End: %d %s\\n", length, length < 0 ? PORT_ErrorToName(PORT_GetError()) : "");
          return 0;
        }
        if (length == 6 && memcmp(buffer, "update", 6) == 0 && SSL_KeyUpdate(fd, PR_TRUE) != SECSuccess)
          die("update");
        if (PR_Send(fd, buffer, length, 0, PR_INTERVAL_NO_TIMEOUT) != length) die("send");
      }
      return 0;
    }
    """
}

extension ToolPeer {
  /// Runs NSS's peer.
  func runNSS(
    _ role: DTLSRole, port: UInt16, group: DTLSGroup, suite: DTLSCipherSuite?, version: DTLSVersion
  ) throws {
    guard let program = NSSPeer.program else { return }
    // NSS reads keys in PKCS #8 only.
    let converter = Process()
    converter.executableURL = URL(filePath: "/usr/bin/openssl")
    converter.arguments = [
      "pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER", "-in",
      folder.appending(path: "key").path(), "-out", folder.appending(path: "key8").path(),
    ]
    try converter.run()
    converter.waitUntilExit()
    try run(
      program, environment: ["LD_LIBRARY_PATH": NSSPeer.libraries],
      [
        role.rawValue, "\(port)", "\(localPort)", folder.path(), "\(group.rawValue)",
        "\(suite?.rawValue ?? 0)", version == .v13 ? "13" : "12",
      ])
  }
}
