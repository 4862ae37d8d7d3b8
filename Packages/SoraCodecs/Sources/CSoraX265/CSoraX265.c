#include "CSoraX265.h"

x265_encoder *sora_x265_open(x265_param *parameters) { return x265_encoder_open(parameters); }

const char *sora_x265_version(void) { return x265_version_str; }
