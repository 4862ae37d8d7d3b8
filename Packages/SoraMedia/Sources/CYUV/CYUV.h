#include <libyuv/basic_types.h>
#include <libyuv/convert.h>
#include <libyuv/convert_from.h>
#include <libyuv/mjpeg_decoder.h>
#include <libyuv/planar_functions.h>
#include <libyuv/scale.h>
#include <libyuv/scale_uv.h>
