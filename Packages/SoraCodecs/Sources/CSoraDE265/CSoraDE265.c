#include "CSoraDE265.h"

#include <CSoraLazy.h>
#include <libde265/de265.h>

#define DE265_FUNCTIONS(X) \
  X(de265_decode) X(de265_free_decoder) X(de265_get_bits_per_pixel) X(de265_get_chroma_format) \
  X(de265_get_error_text) X(de265_get_image_PTS) X(de265_get_image_full_range_flag) X(de265_get_image_height) \
  X(de265_get_image_matrix_coefficients) X(de265_get_image_plane) X(de265_get_image_plane_user_data) \
  X(de265_get_image_width) X(de265_get_next_picture) X(de265_get_number_of_NAL_units_pending) X(de265_get_version) \
  X(de265_get_warning) X(de265_isOK) X(de265_new_decoder) X(de265_peek_next_picture) X(de265_push_NAL) \
  X(de265_push_end_of_frame) X(de265_set_image_allocation_functions) X(de265_set_image_plane) \
  X(de265_start_worker_threads)

SORA_LAZY_LIBRARY(sora_de265_load, "libde265.so.0", DE265_FUNCTIONS)
