#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

void sora_sound_copy(char *to, const char *from) { snprintf(to, SORA_SOUND_TEXT, "%s", from ? from : ""); }

void sora_sound_say(sora_sound_reason *reason, const char *text) {
  if (reason) sora_sound_copy(reason->text, text);
}

void sora_sound_free_devices(sora_sound_device *devices) { free(devices); }

sora_sound_device *device_list_add(device_list *list) {
  if (list->count == list->room) {
    int room = list->room ? 2 * list->room : 16;
    sora_sound_device *grown = realloc(list->devices, (size_t)room * sizeof *grown);
    if (!grown) return NULL;
    list->devices = grown;
    list->room = room;
  }
  sora_sound_device *device = &list->devices[list->count++];
  memset(device, 0, sizeof *device);
  return device;
}

int sora_sound_watch(const char *folder) {
  int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return -1;
  if (inotify_add_watch(fd, folder, IN_CREATE | IN_DELETE | IN_ATTRIB) < 0) {
    close(fd);
    return -1;
  }
  return fd;
}

int sora_sound_watched(int fd, int milliseconds) {
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  if (poll(&wanted, fd >= 0 ? 1 : 0, milliseconds) <= 0) return 0;
  char events[4096];
  int changed = 0;
  while (read(fd, events, sizeof events) > 0) changed = 1;
  return changed;
}

void sora_sound_unwatch(int fd) {
  if (fd >= 0) close(fd);
}
