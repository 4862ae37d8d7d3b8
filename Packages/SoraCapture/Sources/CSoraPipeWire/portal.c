#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cast.h"
#include "libraries.h"

#define NAME "org.freedesktop.portal.Desktop"
#define PATH "/org/freedesktop/portal/desktop"
#define SCREEN_CAST "org.freedesktop.portal.ScreenCast"
#define REQUEST "org.freedesktop.portal.Request"
#define SESSION "org.freedesktop.portal.Session"

enum {
  // What the portal does by itself is done by then, even where it is started first.
  PATIENCE = 10 * 1000,
  LONGEST_TOKEN = 4096,
  // Codes of a Response, of which the last stands for all others too, and one that none of them has.
  ALLOWED = 0,
  DECLINED = 1,
  ENDED = 2,
  UNANSWERED = 3,
};

struct sora_portal {
  sd_bus *bus;
  sora_cast_text *text;
  /// Whether the session, the portal or the bus is gone.
  int is_closed;
  /// The question that is open, and how it was answered.
  char *request;
  uint32_t answer;
  // What the answers said.
  char *session, *token;
  int has_stream;
  uint32_t node;
};

/// A status with what is told of it.
static sora_cast_status refused(sora_portal *portal, const char *what, int error) {
  sora_cast_say(portal->text, "%s (%s)", what, strerror(error < 0 ? -error : error));
  return SORA_CAST_REFUSED;
}

static sora_cast_status refused_call(sora_portal *portal, sd_bus_error *error, int result) {
  if (error->message) {
    sora_cast_say(portal->text, "%s", error->message);
    lib.sd_bus_error_free(error);
    return SORA_CAST_REFUSED;
  }
  lib.sd_bus_error_free(error);
  return refused(portal, "it doesn't answer", result);
}

// MARK: What it answers

/// Keeps a text or a path that a variant holds, in place of what was there.
static int read_text(sd_bus_message *message, char **out) {
  char type;
  const char *contents, *text;
  int result = lib.sd_bus_message_peek_type(message, &type, &contents);
  if (result <= 0 || type != 'v' || (strcmp(contents, "s") != 0 && strcmp(contents, "o") != 0)) return -EBADMSG;
  if ((result = lib.sd_bus_message_enter_container(message, 'v', contents)) < 0) return result;
  if ((result = lib.sd_bus_message_read_basic(message, contents[0], &text)) < 0) return result;
  free(*out);
  *out = strnlen(text, LONGEST_TOKEN) < LONGEST_TOKEN ? strdup(text) : NULL;
  return lib.sd_bus_message_exit_container(message);
}

/// Takes the first of the streams; who may choose one gets no more.
static int read_streams(sora_portal *portal, sd_bus_message *message) {
  int result = lib.sd_bus_message_enter_container(message, 'v', "a(ua{sv})");
  if (result < 0) return result;
  if ((result = lib.sd_bus_message_enter_container(message, 'a', "(ua{sv})")) < 0) return result;
  while ((result = lib.sd_bus_message_enter_container(message, 'r', "ua{sv}")) > 0) {
    uint32_t node;
    if ((result = lib.sd_bus_message_read_basic(message, 'u', &node)) < 0) return result;
    if (!portal->has_stream) portal->node = node;
    portal->has_stream = 1;
    if ((result = lib.sd_bus_message_skip(message, "a{sv}")) < 0) return result;
    if ((result = lib.sd_bus_message_exit_container(message)) < 0) return result;
  }
  if (result < 0) return result;
  if ((result = lib.sd_bus_message_exit_container(message)) < 0) return result;
  return lib.sd_bus_message_exit_container(message);
}

static int read_results(sora_portal *portal, sd_bus_message *message) {
  int result = lib.sd_bus_message_enter_container(message, 'a', "{sv}");
  if (result < 0) return result;
  while ((result = lib.sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    const char *key;
    if ((result = lib.sd_bus_message_read_basic(message, 's', &key)) < 0) return result;
    if (strcmp(key, "streams") == 0)
      result = read_streams(portal, message);
    else if (strcmp(key, "session_handle") == 0)
      result = read_text(message, &portal->session);
    else if (strcmp(key, "restore_token") == 0)
      result = read_text(message, &portal->token);
    else
      result = lib.sd_bus_message_skip(message, "v");
    if (result < 0 || (result = lib.sd_bus_message_exit_container(message)) < 0) return result;
  }
  return result < 0 ? result : lib.sd_bus_message_exit_container(message);
}

// The bus delivers these only from the portal itself: the matches name its unique name.

static int on_response(sd_bus_message *message, void *data, sd_bus_error *error) {
  (void)error;
  sora_portal *portal = data;
  const char *path = lib.sd_bus_message_get_path(message);
  if (!path || !portal->request || strcmp(path, portal->request) != 0) return 0;
  uint32_t answer;
  if (lib.sd_bus_message_read_basic(message, 'u', &answer) < 0) return 0;
  if (answer == ALLOWED && read_results(portal, message) < 0) answer = ENDED;
  portal->answer = answer > ENDED ? ENDED : answer;
  return 0;
}

static int on_closed(sd_bus_message *message, void *data, sd_bus_error *error) {
  (void)error;
  sora_portal *portal = data;
  const char *path = lib.sd_bus_message_get_path(message);
  if (path && portal->session && strcmp(path, portal->session) == 0) portal->is_closed = 1;
  return 0;
}

static int on_owner(sd_bus_message *message, void *data, sd_bus_error *error) {
  (void)error;
  sora_portal *portal = data;
  const char *name, *before, *after;
  if (lib.sd_bus_message_read(message, "sss", &name, &before, &after) < 0) return 0;
  if (strcmp(name, NAME) == 0) portal->is_closed = 1;
  return 0;
}

// MARK: Connecting

static int connect_bus(sora_portal *portal, const char *address) {
  if (!address) return lib.sd_bus_open_user(&portal->bus);
  int result = lib.sd_bus_new(&portal->bus);
  if (result >= 0) result = lib.sd_bus_set_address(portal->bus, address);
  if (result >= 0) result = lib.sd_bus_set_bus_client(portal->bus, 1);
  return result < 0 ? result : lib.sd_bus_start(portal->bus);
}

static int listen_to(sora_portal *portal, const char *owner) {
  char rule[512];
  snprintf(rule, sizeof rule, "type='signal',sender='%s',interface='" REQUEST "',member='Response'", owner);
  int result = lib.sd_bus_add_match(portal->bus, NULL, rule, on_response, portal);
  if (result < 0) return result;
  snprintf(rule, sizeof rule, "type='signal',sender='%s',interface='" SESSION "',member='Closed'", owner);
  if ((result = lib.sd_bus_add_match(portal->bus, NULL, rule, on_closed, portal)) < 0) return result;
  return lib.sd_bus_add_match(
      portal->bus, NULL,
      "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" NAME "'",
      on_owner, portal);
}

static uint32_t property(sora_portal *portal, const char *name) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  uint32_t value = 0;
  if (lib.sd_bus_get_property_trivial(portal->bus, NAME, PATH, SCREEN_CAST, name, &error, 'u', &value) < 0) value = 0;
  lib.sd_bus_error_free(&error);
  return value;
}

sora_cast_status sora_portal_open(const char *address, sora_cast_text *text, sora_cast_offer *offer, sora_portal **out) {
  *out = NULL;
  if (!sora_cast_load_bus()) {
    sora_cast_say(text, "libsystemd.so.0 isn't installed");
    return SORA_CAST_NO_PORTAL;
  }
  sora_portal *portal = calloc(1, sizeof *portal);
  if (!portal) return SORA_CAST_NO_MEMORY;
  portal->text = text;
  portal->answer = UNANSWERED;
  int result = connect_bus(portal, address);
  const char *own_name = NULL;
  if (result >= 0) result = lib.sd_bus_set_method_call_timeout(portal->bus, PATIENCE * 1000ull);
  if (result >= 0) result = lib.sd_bus_get_unique_name(portal->bus, &own_name);
  if (result < 0) {
    sora_cast_say(text, "there is no session bus (%s)", strerror(-result));
    sora_portal_close(portal);
    return SORA_CAST_NO_PORTAL;
  }
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  const char *owner = NULL;
  // The first question starts the portal where the bus can.
  result = lib.sd_bus_get_property_trivial(portal->bus, NAME, PATH, SCREEN_CAST, "version", &error, 'u', &offer->version);
  if (result >= 0)
    result = lib.sd_bus_call_method(
        portal->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", &error, &reply,
        "s", NAME);
  if (result >= 0) result = lib.sd_bus_message_read_basic(reply, 's', &owner);
  if (result >= 0) result = listen_to(portal, owner);
  lib.sd_bus_message_unref(reply);
  if (result < 0) {
    sora_cast_say(text, "%s", error.message ? error.message : strerror(-result));
    lib.sd_bus_error_free(&error);
    sora_portal_close(portal);
    return SORA_CAST_NO_PORTAL;
  }
  offer->kinds = property(portal, "AvailableSourceTypes");
  offer->cursor_modes = property(portal, "AvailableCursorModes");
  *out = portal;
  return SORA_CAST_DONE;
}

/// Asks an object of the portal's to end, without waiting.
static void end_object(sora_portal *portal, const char *path, const char *interface) {
  sd_bus_message *message = NULL;
  if (path && lib.sd_bus_message_new_method_call(portal->bus, &message, NAME, path, interface, "Close") >= 0)
    lib.sd_bus_send(portal->bus, message, NULL);
  lib.sd_bus_message_unref(message);
}

void sora_portal_close(sora_portal *portal) {
  if (!portal) return;
  if (!portal->is_closed && portal->bus) {
    if (portal->answer == UNANSWERED) end_object(portal, portal->request, REQUEST);
    end_object(portal, portal->session, SESSION);
  }
  if (portal->bus) lib.sd_bus_flush_close_unref(portal->bus);
  free(portal->request);
  free(portal->session);
  free(portal->token);
  free(portal);
}

const char *sora_portal_token(const sora_portal *portal) { return portal->token; }

// MARK: Waiting

int64_t sora_portal_prepare(sora_portal *portal, struct pollfd *file) {
  const int events = lib.sd_bus_get_events(portal->bus);
  *file = (struct pollfd){.fd = lib.sd_bus_get_fd(portal->bus), .events = (short)(events < 0 ? 0 : events)};
  uint64_t due;
  if (lib.sd_bus_get_timeout(portal->bus, &due) < 0 || due == UINT64_MAX) return -1;
  const int64_t left = (int64_t)(due / 1000) - sora_cast_now();
  return left < 0 ? 0 : left + 1;
}

sora_cast_status sora_portal_process(sora_portal *portal) {
  int result = 1;
  while (result > 0 && !portal->is_closed) {
    result = lib.sd_bus_process(portal->bus, NULL);
    if (result < 0) portal->is_closed = 1;
  }
  if (!portal->is_closed) return SORA_CAST_DONE;
  sora_cast_say(portal->text, "the desktop ended it");
  return SORA_CAST_CLOSED;
}

/// Waits for the answer to the open question; without a limit where `milliseconds` is below 0.
static sora_cast_status await(sora_portal *portal, int wake, int64_t milliseconds) {
  const int64_t end = sora_cast_now() + milliseconds;
  while (1) {
    const sora_cast_status status = sora_portal_process(portal);
    if (status != SORA_CAST_DONE) return status;
    if (portal->answer != UNANSWERED) break;
    int64_t left = milliseconds < 0 ? INT_MAX : end - sora_cast_now();
    if (left <= 0) return refused(portal, "it doesn't answer", ETIMEDOUT);
    struct pollfd files[2] = {{.fd = wake, .events = POLLIN}};
    const int64_t due = sora_portal_prepare(portal, &files[1]);
    if (due >= 0 && due < left) left = due;
    if (poll(files, 2, left > INT_MAX ? INT_MAX : (int)left) < 0 && errno != EINTR) return refused(portal, "it can't be heard", errno);
    if (files[0].revents & POLLIN) return SORA_CAST_WOKEN;
  }
  switch (portal->answer) {
    case ALLOWED: return SORA_CAST_DONE;
    case DECLINED: return SORA_CAST_DECLINED;
    default: sora_cast_say(portal->text, "it ended the request"); return SORA_CAST_REFUSED;
  }
}

// MARK: Questions

/// Sends a question, whose answer comes as a signal of the object that the reply names.
static sora_cast_status ask(sora_portal *portal, sd_bus_message *message) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  const char *path;
  portal->answer = UNANSWERED;
  free(portal->request);
  portal->request = NULL;
  int result = lib.sd_bus_call(portal->bus, message, 0, &error, &reply);
  // Signals that came with the reply wait until they are processed.
  if (result >= 0) result = lib.sd_bus_message_read_basic(reply, 'o', &path);
  if (result >= 0) {
    portal->request = strdup(path);
    if (!portal->request) result = -ENOMEM;
  }
  lib.sd_bus_message_unref(reply);
  return result < 0 ? refused_call(portal, &error, result) : SORA_CAST_DONE;
}

/// What distinguishes the objects of this process's questions.
static void make_token(char token[32]) {
  static atomic_uint count;
  snprintf(token, 32, "sora%u", atomic_fetch_add(&count, 1) + 1);
}

static int add_text(sd_bus_message *message, const char *key, const char *text) {
  return lib.sd_bus_message_append(message, "{sv}", key, "s", text);
}

static int add_number(sd_bus_message *message, const char *key, uint32_t number) {
  return lib.sd_bus_message_append(message, "{sv}", key, "u", number);
}

/// Begins a question with its options, the first of which names it.
static int begin(sora_portal *portal, const char *member, int has_session, int has_window, sd_bus_message **out) {
  char token[32];
  make_token(token);
  int result = lib.sd_bus_message_new_method_call(portal->bus, out, NAME, PATH, SCREEN_CAST, member);
  if (result >= 0 && has_session) result = lib.sd_bus_message_append(*out, "o", portal->session);
  // No window of ours that the dialog is to stand before.
  if (result >= 0 && has_window) result = lib.sd_bus_message_append(*out, "s", "");
  if (result >= 0) result = lib.sd_bus_message_open_container(*out, 'a', "{sv}");
  return result < 0 ? result : add_text(*out, "handle_token", token);
}

/// Ends what `begin` began, asks, and waits.
static sora_cast_status finish(sora_portal *portal, int wake, int64_t patience, int result, sd_bus_message *message) {
  if (result >= 0) result = lib.sd_bus_message_close_container(message);
  sora_cast_status status = result < 0 ? refused(portal, "it can't be asked", result) : ask(portal, message);
  lib.sd_bus_message_unref(message);
  return status == SORA_CAST_DONE ? await(portal, wake, patience) : status;
}

sora_cast_status sora_portal_create(sora_portal *portal, int wake) {
  sd_bus_message *message = NULL;
  char token[32];
  make_token(token);
  int result = begin(portal, "CreateSession", 0, 0, &message);
  if (result >= 0) result = add_text(message, "session_handle_token", token);
  const sora_cast_status status = finish(portal, wake, PATIENCE, result, message);
  if (status != SORA_CAST_DONE || portal->session) return status;
  return refused(portal, "it named no session", EBADMSG);
}

sora_cast_status sora_portal_select(
    sora_portal *portal, int wake, uint32_t kinds, uint32_t cursor_mode, uint32_t persist_mode, const char *token) {
  if (!portal->session) return SORA_CAST_CLOSED;
  sd_bus_message *message = NULL;
  int result = begin(portal, "SelectSources", 1, 0, &message);
  if (result >= 0) result = add_number(message, "types", kinds);
  if (result >= 0) result = lib.sd_bus_message_append(message, "{sv}", "multiple", "b", 0);
  if (result >= 0 && cursor_mode) result = add_number(message, "cursor_mode", cursor_mode);
  if (result >= 0 && persist_mode) result = add_number(message, "persist_mode", persist_mode);
  if (result >= 0 && token) result = add_text(message, "restore_token", token);
  return finish(portal, wake, PATIENCE, result, message);
}

sora_cast_status sora_portal_start(sora_portal *portal, int wake) {
  if (!portal->session) return SORA_CAST_CLOSED;
  sd_bus_message *message = NULL;
  const int result = begin(portal, "Start", 1, 1, &message);
  const sora_cast_status status = finish(portal, wake, -1, result, message);
  if (status != SORA_CAST_DONE || portal->has_stream) return status;
  return refused(portal, "it gave no stream", EBADMSG);
}

sora_cast_status sora_portal_open_remote(sora_portal *portal, int *fd, uint32_t *node) {
  if (!portal->session || !portal->has_stream) return SORA_CAST_CLOSED;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  int lent = -1;
  int result = lib.sd_bus_call_method(
      portal->bus, NAME, PATH, SCREEN_CAST, "OpenPipeWireRemote", &error, &reply, "oa{sv}", portal->session, 0);
  if (result >= 0) result = lib.sd_bus_message_read_basic(reply, 'h', &lent);
  if (result >= 0) {
    *fd = fcntl(lent, F_DUPFD_CLOEXEC, 3);
    if (*fd < 0) result = -errno;
  }
  *node = portal->node;
  lib.sd_bus_message_unref(reply);
  return result < 0 ? refused_call(portal, &error, result) : SORA_CAST_DONE;
}
