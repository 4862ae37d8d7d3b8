// libdav1d, which is loaded when it is used first.
#ifndef CSORA_DAV1D_H
#define CSORA_DAV1D_H

/// Loads libdav1d, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_dav1d_load(void);

#endif
