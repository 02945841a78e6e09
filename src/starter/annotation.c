#include "starter/annotation.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

enum { kMaxProcesses = 256, kMaxDepth = 64 };

/* --- text
 * ------------------------------------------------------------------------------------------------------
 */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* False unless all the digits are there. */
static bool read_hex(const char* at, const char* end, int digits, uint32_t* value) {
  if (end - at < digits) return false;
  *value = 0;
  for (int i = 0; i < digits; ++i) {
    int digit = hex_digit(at[i]);
    if (digit < 0) return false;
    *value = *value << 4 | (uint32_t)digit;
  }
  return true;
}

static char* put_utf8(char* out, uint32_t code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xC0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out++ = (char)(0xE0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    *out++ = (char)(0x80 | (code & 0x3F));
  } else {
    *out++ = (char)(0xF0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3F));
    *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    *out++ = (char)(0x80 | (code & 0x3F));
  }
  return out;
}

static bool is_scalar(uint32_t code) {
  return code != 0 && code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
}

/* What both languages write alike; 0 if it is none of them. */
static char plain_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '\\':
      return '\\';
    case '"':
      return '"';
    default:
      return 0;
  }
}

/* Decodes behind an opening quote up to the closing one. NULL if there is none or an escape is
 * wrong. */
static char* decode_go_string(char* text) {
  char* out = text;
  const char* end = text + strlen(text);
  for (const char* at = text; at < end;) {
    if (*at == '"') {
      *out = '\0';
      return text;
    }
    if (*at == '\n') return NULL;
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    const char kind = at[1]; /* at worst the final NUL */
    uint32_t code = 0;
    if (kind == 'a' || kind == 'v' || plain_escape(kind) != 0) {
      *out++ = kind == 'a' ? '\a' : kind == 'v' ? '\v' : plain_escape(kind);
      at += 2;
    } else if (kind == 'x' && read_hex(at + 2, end, 2, &code) && code != 0) {
      *out++ = (char)code;
      at += 4;
    } else if (kind == 'u' && read_hex(at + 2, end, 4, &code) && is_scalar(code)) {
      out = put_utf8(out, code);
      at += 6;
    } else if (kind == 'U' && read_hex(at + 2, end, 8, &code) && is_scalar(code)) {
      out = put_utf8(out, code);
      at += 10;
    } else {
      return NULL;
    }
  }
  return NULL;
}

bool find_annotation(char* text, const char* key, char** value, struct Message* message) {
  const size_t length = strlen(key);
  *value = NULL;
  for (char* line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (strncmp(line, key, length) != 0 || line[length] != '=') continue;
    if (line[length + 1] != '"' || !(*value = decode_go_string(line + length + 2)))
      return refuse(message, "the value of annotation %s is not quoted as the downward API does",
                    key);
    return true;
  }
  return true;
}

/* --- JSON
 * ------------------------------------------------------------------------------------------------------
 */

struct Reader {
  char* json;
  jsmntok_t* tokens;
  int count;
  struct Element* element;
  struct Message* message;
};

static int after(const struct Reader* reader, int token) {
  const int end = reader->tokens[token].end;
  int next = token + 1;
  while (next < reader->count && reader->tokens[next].start < end) ++next;
  return next;
}

static bool is_key(const struct Reader* reader, int token, const char* name) {
  const jsmntok_t* at = &reader->tokens[token];
  const size_t length = (size_t)(at->end - at->start);
  return strlen(name) == length && memcmp(reader->json + at->start, name, length) == 0;
}

/* The value of a member; 0, which is never one, if there is none; -1 if it is there twice. */
static int member(const struct Reader* reader, int object, const char* name) {
  const int end = after(reader, object);
  int found = 0;
  for (int key = object + 1; key < end; key = after(reader, key + 1)) {
    if (!is_key(reader, key, name)) continue;
    if (found != 0) return -1;
    found = key + 1;
  }
  return found;
}

/* jsmn walks up again at every closing bracket: what is deep would cost the square of its depth. */
static bool is_shallow(const char* json) {
  int depth = 0;
  bool in_string = false;
  for (; *json; ++json) {
    if (in_string && *json == '\\' && json[1]) {
      ++json;
    } else if (*json == '"') {
      in_string = !in_string;
    } else if (!in_string && (*json == '[' || *json == '{')) {
      if (++depth > kMaxDepth) return false;
    } else if (!in_string && (*json == ']' || *json == '}')) {
      --depth;
    }
  }
  return true;
}

/* jsmn lets some texts pass that are no JSON. Here every member of an object is a key with one
   value and nothing else has any, so that the walks below never meet what they do not expect.
   Returns the first token that breaks this, else NULL. */
static const jsmntok_t* unsound(const struct Reader* reader) {
  for (int token = 1; token < reader->count; ++token) {
    const jsmntok_t* at = &reader->tokens[token];
    if (at->parent < 0) return at;
    const bool is_member = reader->tokens[at->parent].type == JSMN_OBJECT;
    if (is_member && at->type != JSMN_STRING) return at;
    if ((at->type == JSMN_STRING || at->type == JSMN_PRIMITIVE) && at->size != (is_member ? 1 : 0))
      return at;
  }
  return NULL;
}

static bool is_type(const struct Reader* reader, int token, jsmntype_t type) {
  return token > 0 && reader->tokens[token].type == type;
}

/* The text of a string, decoded in place, where it shrinks only. NULL if an escape is wrong or it
 * holds a NUL. */
static const char* text_of(struct Reader* reader, int token) {
  if (!is_type(reader, token, JSMN_STRING)) return NULL;
  char* const text = reader->json + reader->tokens[token].start;
  const char* end = reader->json + reader->tokens[token].end;
  char* out = text;
  for (const char* at = text; at < end;) {
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    uint32_t code = 0, low = 0;
    if (at[1] == '/' || plain_escape(at[1]) != 0) {
      *out++ = at[1] == '/' ? '/' : plain_escape(at[1]);
      at += 2;
      continue;
    }
    if (at[1] != 'u' || !read_hex(at + 2, end, 4, &code)) return NULL;
    at += 6;
    if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
        read_hex(at + 2, end, 4, &low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at += 6;
    }
    if (!is_scalar(code)) return NULL;
    out = put_utf8(out, code);
  }
  *out = '\0'; /* at the latest on the closing quote */
  /* A second call must find nothing left to decode. */
  reader->tokens[token].end = (int)(out - reader->json);
  return text;
}

static bool number_of(const struct Reader* reader, int token, long* value) {
  if (!is_type(reader, token, JSMN_PRIMITIVE)) return false;
  const char* at = reader->json + reader->tokens[token].start;
  const char* end = reader->json + reader->tokens[token].end;
  const bool negative = *at == '-';
  at += negative;
  if (at == end || end - at > 9) return false;
  long out = 0;
  for (; at < end; ++at) {
    if (*at < '0' || *at > '9') return false;
    out = out * 10 + (*at - '0');
  }
  *value = negative ? -out : out;
  return true;
}

static bool read_args(struct Reader* reader, int list, struct Process* process) {
  const int count = list == 0 ? 0 : reader->tokens[list].size;
  if (list != 0 && !is_type(reader, list, JSMN_ARRAY))
    return refuse(reader->message, "args of %s is not a list", process->program);
  process->args = allocate(&reader->element->memory, ((size_t)count + 1) * sizeof *process->args);
  if (!process->args) return refuse(reader->message, "there is no memory left");
  int token = list + 1;
  for (int i = 0; i < count; ++i, token = after(reader, token)) {
    process->args[i] = text_of(reader, token);
    if (!process->args[i])
      return refuse(reader->message, "argument %d of %s is not a text", i, process->program);
  }
  return true;
}

static bool read_env(struct Reader* reader, int map, struct Process* process) {
  if (map != 0 && !is_type(reader, map, JSMN_OBJECT))
    return refuse(reader->message, "env of %s is not a map", process->program);
  const int count = map == 0 ? 0 : reader->tokens[map].size;
  process->env = allocate(&reader->element->memory, ((size_t)count + 1) * sizeof *process->env);
  if (!process->env) return refuse(reader->message, "there is no memory left");
  int key = map + 1;
  for (int i = 0; i < count; ++i) {
    const int next = after(reader, key + 1);
    const char* name = text_of(reader, key);
    const char* value = text_of(reader, key + 1);
    if (!name || !value || *name == '\0' || strchr(name, '='))
      return refuse(reader->message, "env of %s holds something else than names and texts",
                    process->program);
    const size_t size = strlen(name) + strlen(value) + 2;
    char* both = allocate(&reader->element->memory, size);
    if (!both) return refuse(reader->message, "there is no memory left");
    snprintf(both, size, "%s=%s", name, value);
    process->env[i] = both;
    key = next;
  }
  return true;
}

static bool read_sched(struct Reader* reader, int token, struct Process* process) {
  process->policy = -1;
  if (token == 0) return true;
  const char* text = text_of(reader, token);
  if (text && strcmp(text, "other") == 0) {
    process->policy = SCHED_OTHER;
  } else if (text && strcmp(text, "batch") == 0) {
    process->policy = SCHED_BATCH;
  } else if (text && (strncmp(text, "fifo:", 5) == 0 || strncmp(text, "rr:", 3) == 0)) {
    const char* number = strchr(text, ':') + 1;
    char* end = NULL;
    const long priority = strtol(number, &end, 10);
    if (*number >= '0' && *number <= '9' && *end == '\0' && priority >= 1 && priority <= 99) {
      process->policy = *text == 'f' ? SCHED_FIFO : SCHED_RR;
      process->priority = (int)priority;
    }
  }
  if (process->policy < 0)
    return refuse(reader->message, "sched of %s is not other, batch, fifo:1-99 or rr:1-99",
                  process->program);
  return true;
}

static bool read_process(struct Reader* reader, int object, struct Process* process) {
  struct Message* message = reader->message;
  if (!is_type(reader, object, JSMN_OBJECT)) return refuse(message, "a process is not an object");
  static const char* const kMembers[] = {"process", "args", "pool", "cpus", "env", "nice", "sched"};
  int at[7];
  for (size_t i = 0; i < 7; ++i) {
    at[i] = member(reader, object, kMembers[i]);
    if (at[i] < 0) return refuse(message, "a process has %s twice", kMembers[i]);
  }
  process->program = text_of(reader, at[0]);
  if (!process->program || *process->program == '\0')
    return refuse(message, "a process has no text in process");
  process->pool = text_of(reader, at[2]);
  if (!process->pool || *process->pool == '\0')
    return refuse(message, "%s has no text in pool", process->program);
  if (!number_of(reader, at[3], &process->cpus) || process->cpus < 1)
    return refuse(message, "cpus of %s is not a whole number from 1 on", process->program);
  process->has_nice = at[5] != 0;
  long nice = 0;
  if (process->has_nice && (!number_of(reader, at[5], &nice) || nice < -20 || nice > 19))
    return refuse(message, "nice of %s is not a number from -20 to 19", process->program);
  process->nice = (int)nice;
  return read_args(reader, at[1], process) && read_env(reader, at[4], process) &&
         read_sched(reader, at[6], process);
}

static bool read_on_exit(struct Reader* reader, int token) {
  const char* text = token == 0 ? "failfast" : text_of(reader, token);
  if (text && strcmp(text, "failfast") == 0) {
    reader->element->on_exit = kFailFast;
  } else if (text && strcmp(text, "any") == 0) {
    reader->element->on_exit = kAny;
  } else if (text && strcmp(text, "last") == 0) {
    reader->element->on_exit = kLast;
  } else {
    return refuse(reader->message, "onExit is not failfast, any or last");
  }
  return true;
}

static bool read_processes(struct Reader* reader, int object) {
  struct Element* element = reader->element;
  const int list = member(reader, object, "processes");
  const int on_exit = member(reader, object, "onExit");
  if (!is_type(reader, list, JSMN_ARRAY) || reader->tokens[list].size == 0 || on_exit < 0)
    return refuse(reader->message, "the container has no list of processes");
  const size_t count = (size_t)reader->tokens[list].size;
  if (count > kMaxProcesses)
    return refuse(reader->message, "%zu processes are more than %d", count, kMaxProcesses);
  if (!read_on_exit(reader, on_exit)) return false;
  element->processes = allocate(&reader->element->memory, count * sizeof *element->processes);
  if (!element->processes) return refuse(reader->message, "there is no memory left");
  int token = list + 1;
  for (size_t i = 0; i < count; ++i) {
    const int next = after(reader, token);
    if (!read_process(reader, token, &element->processes[i])) return false;
    token = next;
  }
  element->count = count;
  return true;
}

static bool read_array(struct Reader* reader, const char* container) {
  struct Message* message = reader->message;
  if (reader->count < 1 || reader->tokens[0].type != JSMN_ARRAY)
    return refuse(message, "the annotation is not a list");
  const jsmntok_t* wrong = unsound(reader);
  if (wrong) return refuse(message, "the annotation is not JSON at byte %d", wrong->start);
  int found = 0;
  for (int token = 1; token < reader->count; token = after(reader, token)) {
    if (!is_type(reader, token, JSMN_OBJECT))
      return refuse(message, "the annotation holds something else than objects");
    const int name = member(reader, token, "container");
    const char* text = text_of(reader, name);
    if (!text) return refuse(message, "the annotation has an element without container");
    if (strcmp(text, container) != 0) continue;
    if (found != 0) return refuse(message, "the annotation names container %s twice", container);
    found = token;
  }
  return found == 0 || read_processes(reader, found);
}

bool read_element(char* json, const char* container, struct Element* element,
                  struct Message* message) {
  memset(element, 0, sizeof *element);
  if (!is_shallow(json)) return refuse(message, "the annotation is nested too deep");
  const size_t length = strlen(json);
  struct Reader reader = {.json = json, .element = element, .message = message};
  jsmn_parser parser;
  jsmn_init(&parser);
  reader.count = jsmn_parse(&parser, json, length, NULL, 0);
  if (reader.count < 0) return refuse(message, "the annotation is not JSON at byte %u", parser.pos);
  reader.tokens = calloc((size_t)reader.count + 1, sizeof *reader.tokens);
  if (!reader.tokens) return refuse(message, "there is no memory left");
  jsmn_init(&parser);
  reader.count = jsmn_parse(&parser, json, length, reader.tokens, (unsigned)reader.count + 1);
  bool done = reader.count < 0
                  ? refuse(message, "the annotation is not JSON at byte %u", parser.pos)
                  : read_array(&reader, container);
  free(reader.tokens);
  return done;
}
