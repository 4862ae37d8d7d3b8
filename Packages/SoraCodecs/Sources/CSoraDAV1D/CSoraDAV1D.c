#include "CSoraDAV1D.h"

#include <CSoraLazy.h>
#include <dav1d/dav1d.h>

#define DAV1D_FUNCTIONS(X) \
  X(dav1d_close) X(dav1d_data_unref) X(dav1d_data_wrap) X(dav1d_default_settings) X(dav1d_get_picture) X(dav1d_open) \
  X(dav1d_parse_sequence_header) X(dav1d_picture_unref) X(dav1d_send_data) X(dav1d_version)

SORA_LAZY_LIBRARY(sora_dav1d_load, "libdav1d.so." SORA_LAZY_TEXT(DAV1D_API_VERSION_MAJOR), DAV1D_FUNCTIONS)
