// What Swift can't call by itself in libx265: a macro that makes up a function's name, and a global of the library.
#ifndef CSORA_X265_H
#define CSORA_X265_H

#include <x265.h>

x265_encoder *sora_x265_open(x265_param *parameters);

/// The library's version, such as "3.5+1-f0c1022b6".
const char *sora_x265_version(void);

/// Loads libx265, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_x265_load(void);

#endif
