#ifndef SORA_SOUND_COMMON_H
#define SORA_SOUND_COMMON_H

#include <dlfcn.h>
#include <stddef.h>

#include "CSoraSound.h"

void sora_sound_say(sora_sound_reason *reason, const char *text);
void sora_sound_copy(char *to, const char *from);

/// Devices that are found one after the other.
typedef struct device_list {
  sora_sound_device *devices;
  int count, room;
} device_list;

/// Room for one more, zeroed; NULL where memory is out.
sora_sound_device *device_list_add(device_list *list);

#endif
