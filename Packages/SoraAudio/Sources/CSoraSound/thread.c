#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CSoraSound.h"

enum { PRIORITY = 10, NICENESS = -11 };

static int is_round_robin(int priority) {
  struct sched_param parameters = {.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0;
}

int sora_sound_raise_thread(int *niceness) {
  id_t thread = (id_t)syscall(SYS_gettid);
  *niceness = getpriority(PRIO_PROCESS, thread);
  if (is_round_robin(PRIORITY)) return SORA_SOUND_ROUND_ROBIN;
  // A limit below is what the machine permits.
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur > 0 && limit.rlim_cur < PRIORITY &&
      is_round_robin((int)limit.rlim_cur))
    return SORA_SOUND_ROUND_ROBIN;
  return setpriority(PRIO_PROCESS, thread, NICENESS) == 0 ? SORA_SOUND_NICE : SORA_SOUND_NORMAL;
}

void sora_sound_lower_thread(int how, int niceness) {
  struct sched_param parameters = {.sched_priority = 0};
  if (how == SORA_SOUND_ROUND_ROBIN) pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters);
  if (how == SORA_SOUND_NICE) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness);
}
