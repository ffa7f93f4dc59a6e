// A clock of one server that is off by AHEAD seconds: preloaded, it stands before the C library's. What measures time
// (CLOCK_MONOTONIC) stays as it is. libfaketime would do more, but hangs where jemalloc asks it for the time as it starts.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void) {
  const char *seconds = getenv("AHEAD");
  return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int failed = syscall(SYS_gettimeofday, now, zone);
  if (!failed) now->tv_sec += ahead();
  return failed;
}

time_t time(time_t *now) {
  struct timespec shown;
  clock_gettime(CLOCK_REALTIME, &shown);
  if (now) *now = shown.tv_sec;
  return shown.tv_sec;
}
