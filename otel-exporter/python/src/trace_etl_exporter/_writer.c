#include "_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the ring is little-endian, and so must be the machine"
#endif

enum {
  TAIL = 128,
  DICTIONARY_END = 256,
  DROPPED_FULL = 264,
  DROPPED_TOO_LARGE = 272,
  HEAD = 384,
  ASLEEP = 392,

  TYPE_PADDING = 1,
  TYPE_SPAN = 2,
  RECORD_HEADER = 8,
  SPAN_HEAD = 56, /* including the number of attributes */
  MAX_LINKS = 128,
  LINK_BYTES = 24,
  MAX_RECORD = 65536,
  MAX_ENTRY = 65535,

  FLAG_THRESHOLD = 1,
  FLAG_RANDOMNESS = 2,
  FLAG_MESSAGE = 4,
  FLAG_EVENTS = 8,

  VALUE_STRING = 0,
  VALUE_FALSE = 1,
  VALUE_TRUE = 2,
  VALUE_INTEGER = 3,
  VALUE_DOUBLE = 4,

  SEEN = 4096, /* as in _pure.py */
  MAX_VARINT = 10,
  TRACE_STATE_DIGITS = 14,

  CONTEXT_TRACE_ID = 0,
  CONTEXT_SPAN_ID = 1,
  CONTEXT_TRACE_FLAGS = 3,
  CONTEXT_TRACE_STATE = 4
};

#define NANOS_PER_SECOND INT64_C(1000000000)

PyTypeObject* writer_type;

/* Counts the forks that led to this process: a ring belongs to the process that created it. */
unsigned fork_generation;

static PyObject* other_value; /* (value) -> (type, text), from _values.py */
static PyObject* kinds[5];
static PyObject* status_codes[3];
static PyObject *bounded_attributes, *bounded_list; /* types of the API's and the SDK's */
static PyObject *span_type_of_sdk, *status_type, *context_type, *empty_trace_state;
static PyObject *str_context, *str_name, *str_kind, *str_parent, *str_start_time, *str_end_time,
    *str_status, *str_attributes, *str_events, *str_trace_id, *str_span_id, *str_trace_flags,
    *str_trace_state, *str_status_code, *str_description, *str_copy, *str_timestamp, *str_get,
    *str_ot, *str_links, *str_own_attributes, *str_dict, *str_own_events, *str_own_links,
    *str_deque, *str_own_context, *str_own_name, *str_own_kind, *str_own_parent,
    *str_own_start_time, *str_own_end_time, *str_own_status, *str_own_status_code,
    *str_own_description;

static void in_forked_child(void) { fork_generation++; }

int64_t now_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

static inline _Atomic uint64_t* field64(const Writer* self, size_t offset) {
  return (_Atomic uint64_t*)(self->map + offset);
}

/* Ignores an error of an application's object, such as of its __str__. KeyboardInterrupt and
   SystemExit are raised later. */
static void forgive(Writer* self) {
  if (PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_Exception) ||
      self->interrupt[0] != NULL) {
    PyErr_Clear();
  } else {
    PyErr_Fetch(&self->interrupt[0], &self->interrupt[1], &self->interrupt[2]);
  }
}

static void raise_interrupt(Writer* self) {
  if (self->interrupt[0] != NULL) {
    PyErr_Restore(self->interrupt[0], self->interrupt[1], self->interrupt[2]);
    self->interrupt[0] = self->interrupt[1] = self->interrupt[2] = NULL;
  }
}

/* ---- encoding ---- */

static inline bool room(Buffer* out, size_t bytes) {
  if ((size_t)(out->end - out->at) >= bytes) {
    return true;
  }
  out->overflowed = true;
  return false;
}

static inline uint8_t* varint_to(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = (uint8_t)value | 0x80;
    value >>= 7;
  }
  *at++ = (uint8_t)value;
  return at;
}

static inline void put_varint(Buffer* out, uint64_t value) {
  if (room(out, MAX_VARINT)) {
    out->at = varint_to(out->at, value);
  }
}

static inline void put_byte(Buffer* out, uint8_t value) {
  if (room(out, 1)) {
    *out->at++ = value;
  }
}

static inline void put_bytes(Buffer* out, const void* bytes, size_t count) {
  if (room(out, count)) {
    memcpy(out->at, bytes, count);
    out->at += count;
  }
}

static inline uint64_t zigzag(int64_t value) {
  return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* Returns the UTF-8 of a str. Lone surrogates become '?', in *repaired, which the caller releases.
   NULL: no memory; no error is set. */
static const char* utf8_of(PyObject* text, Py_ssize_t* length, PyObject** repaired) {
  *repaired = NULL;
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    *length = PyUnicode_GET_LENGTH(text);
    return (const char*)PyUnicode_1BYTE_DATA(text);
  }
  const char* bytes = PyUnicode_AsUTF8AndSize(text, length);
  if (bytes != NULL) {
    return bytes;
  }
  PyErr_Clear();
  *repaired = PyUnicode_AsEncodedString(text, "utf-8", "replace");
  if (*repaired == NULL) {
    PyErr_Clear();
    return NULL;
  }
  *length = PyBytes_GET_SIZE(*repaired);
  return PyBytes_AS_STRING(*repaired);
}

static bool same_text(PyObject* one, PyObject* other) {
  Py_ssize_t length = PyUnicode_GET_LENGTH(one);
  return length == PyUnicode_GET_LENGTH(other) && PyUnicode_KIND(one) == PyUnicode_KIND(other) &&
         memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other), (size_t)length * PyUnicode_KIND(one)) ==
             0;
}

static Entry* slot_of(const Writer* self, PyObject* text, Py_hash_t hash) {
  size_t at = (size_t)hash & self->entries_mask;
  for (;; at = (at + 1) & self->entries_mask) {
    Entry* entry = &self->entries[at];
    if (entry->text == NULL || entry->text == text ||
        (entry->hash == hash && same_text(entry->text, text))) {
      return entry;
    }
  }
}

/* Doubles the table if it is half full. Without memory it keeps its size and accepts no more. */
static bool table_has_room(Writer* self) {
  if (self->dictionary_count * 2 < self->entries_mask) {
    return true;
  }
  size_t slots = (self->entries_mask + 1) * 2;
  Entry* old = self->entries;
  size_t old_slots = self->entries_mask + 1;
  Entry* wider = PyMem_Calloc(slots, sizeof(Entry));
  if (wider == NULL) {
    return false;
  }
  self->entries = wider;
  self->entries_mask = slots - 1;
  for (size_t at = 0; at < old_slots; at++) {
    if (old[at].text != NULL) {
      *slot_of(self, old[at].text, old[at].hash) = old[at];
    }
  }
  PyMem_Free(old);
  return true;
}

/* Appends an entry if it does not extend beyond `limit`. */
static bool add_entry(Writer* self, PyObject* text, Py_hash_t hash, const char* bytes,
                      size_t length, uint64_t limit) {
  uint8_t head[MAX_VARINT];
  size_t head_length = (size_t)(varint_to(head, length) - head);
  if (length == 0 || length > MAX_ENTRY || self->map == NULL ||
      self->dictionary_end + head_length + length > limit || !table_has_room(self)) {
    return false;
  }
  uint8_t* to = self->dictionary + self->dictionary_end;
  memcpy(to, head, head_length);
  memcpy(to + head_length, bytes, length);
  self->dictionary_end += head_length + length;
  atomic_store_explicit(field64(self, DICTIONARY_END), self->dictionary_end, memory_order_release);
  Entry* entry = slot_of(self, text, hash);
  entry->text = Py_NewRef(text);
  entry->hash = hash;
  entry->number = self->dictionary_count++;
  return true;
}

/* Puts a str. Names and keys go into the dictionary, and values that were seen before into its
   first half. */
static void put_string(Writer* self, Buffer* out, PyObject* text, bool value) {
  Py_hash_t hash = PyObject_Hash(text);
  Entry* entry = slot_of(self, text, hash);
  if (entry->text != NULL) {
    put_varint(out, (uint64_t)entry->number << 1);
    return;
  }
  Py_ssize_t length;
  PyObject* repaired;
  const char* bytes = utf8_of(text, &length, &repaired);
  if (bytes == NULL) {
    bytes = "";
    length = 0;
  }
  bool enter = true;
  if (value) {
    Py_hash_t* seen = &self->seen[(size_t)hash & (SEEN - 1)];
    enter = *seen == hash;
    *seen = hash;
  }
  if (enter && add_entry(self, text, hash, bytes, (size_t)length,
                         value ? self->dictionary_bytes / 2 : self->dictionary_bytes)) {
    put_varint(out, (uint64_t)(self->dictionary_count - 1) << 1);
  } else {
    put_varint(out, (uint64_t)length << 1 | 1);
    put_bytes(out, bytes, (size_t)length);
  }
  Py_XDECREF(repaired);
}

/* Like put_string, for any object: its exact str, or str(object). */
static void put_text(Writer* self, Buffer* out, PyObject* object, bool value) {
  if (PyUnicode_CheckExact(object)) {
    put_string(self, out, object, value);
    return;
  }
  PyObject* text = PyUnicode_Check(object) ? PyUnicode_FromObject(object) : PyObject_Str(object);
  if (text != NULL && !PyUnicode_CheckExact(text)) {
    Py_SETREF(text, PyUnicode_FromObject(text));
  }
  if (text == NULL) {
    forgive(self);
    put_varint(out, 1);
    return;
  }
  put_string(self, out, text, value);
  Py_DECREF(text);
}

static void put_other_value(Writer* self, Buffer* out, PyObject* value) {
  PyObject* typed = PyObject_CallOneArg(other_value, value);
  if (typed == NULL || !PyTuple_Check(typed) || PyTuple_GET_SIZE(typed) != 2 ||
      !PyUnicode_CheckExact(PyTuple_GET_ITEM(typed, 1))) {
    forgive(self);
    put_byte(out, VALUE_STRING);
    put_varint(out, 1);
  } else {
    put_byte(out, (uint8_t)PyLong_AsLong(PyTuple_GET_ITEM(typed, 0)));
    put_string(self, out, PyTuple_GET_ITEM(typed, 1), true);
  }
  Py_XDECREF(typed);
}

static void put_value(Writer* self, Buffer* out, PyObject* value) {
  if (PyUnicode_Check(value)) {
    put_byte(out, VALUE_STRING);
    put_text(self, out, value, true);
  } else if (PyBool_Check(value)) {
    put_byte(out, value == Py_True ? VALUE_TRUE : VALUE_FALSE);
  } else if (PyLong_Check(value)) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
      put_other_value(self, out, value);
    } else {
      put_byte(out, VALUE_INTEGER);
      put_varint(out, zigzag(number));
    }
  } else if (PyFloat_Check(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    put_byte(out, VALUE_DOUBLE);
    put_bytes(out, &number, sizeof number);
  } else {
    put_other_value(self, out, value);
  }
}

static void put_attributes(Writer* self, Buffer* out, PyObject* attributes) {
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (!out->overflowed && PyDict_Next(attributes, &position, &key, &value)) {
    put_text(self, out, key, false);
    put_value(self, out, value);
  }
}

static void put_events(Writer* self, Buffer* out, const SpanFields* span) {
  put_varint(out, (uint64_t)span->event_count);
  for (Py_ssize_t at = 0; at < span->event_count && !out->overflowed; at++) {
    const Event* event = &span->events[at];
    put_text(self, out, event->name, false);
    put_varint(out, zigzag((int64_t)((uint64_t)event->nanos - (uint64_t)span->start_nanos)));
    if (event->attributes == NULL) {
      put_varint(out, 0);
    } else {
      put_varint(out, (uint64_t)PyDict_GET_SIZE(event->attributes));
      put_attributes(self, out, event->attributes);
    }
  }
}

void events_free(Event* events, Py_ssize_t count) {
  for (Py_ssize_t at = 0; at < count; at++) {
    Py_DECREF(events[at].name);
    Py_XDECREF(events[at].attributes);
  }
  PyMem_Free(events);
}

/* Parses 1 to 14 lower-case hexadecimal digits; -1 if it fails. */
static int64_t hex_of(const char* digits, size_t count) {
  if (count == 0 || count > TRACE_STATE_DIGITS) {
    return -1;
  }
  int64_t value = 0;
  for (size_t at = 0; at < count; at++) {
    char c = digits[at];
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) {
      return -1;
    }
    value = value << 4 | digit;
  }
  return value;
}

/* Reads th and rv of the tracestate's member ot; -1 if missing or malformed. */
static void sampling_of(Writer* self, PyObject* trace_state, int64_t* threshold,
                        int64_t* randomness) {
  *threshold = *randomness = -1;
  PyObject* member = PyObject_CallMethodOneArg(trace_state, str_get, str_ot);
  Py_ssize_t length;
  const char* text =
      member != NULL && PyUnicode_Check(member) ? PyUnicode_AsUTF8AndSize(member, &length) : NULL;
  forgive(self);
  bool threshold_read = false;
  for (const char *at = text, *end = text + (text ? length : 0); at != NULL && at < end;) {
    const char* stop = memchr(at, ';', (size_t)(end - at));
    if (stop == NULL) {
      stop = end;
    }
    size_t digits = (size_t)(stop - at) - 3;
    if (stop - at > 3 && memcmp(at, "th:", 3) == 0 && !threshold_read) {
      threshold_read = true;
      int64_t value = hex_of(at + 3, digits);
      *threshold = value < 0 ? -1 : value << 4 * (TRACE_STATE_DIGITS - digits);
    } else if (stop - at == 3 + TRACE_STATE_DIGITS && memcmp(at, "rv:", 3) == 0 &&
               *randomness < 0) {
      *randomness = hex_of(at + 3, digits);
    }
    at = stop + 1;
  }
  Py_XDECREF(member);
}

/* ---- claiming and waking ---- */

/* Writes a byte into the FIFO without waiting, and without SIGPIPE if it has no reader. */
static bool poke(int fd) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t written = write(fd, "", 1);
  int error = errno;
  if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
    struct timespec none = {0, 0};
    sigtimedwait(&pipe_signal, NULL, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return written == 1 || error == EAGAIN;
}

static void wake(Writer* self) {
  if (self->wake_fd >= 0) {
    if (poke(self->wake_fd)) {
      return;
    }
    close(self->wake_fd);
  }
  /* The agent may have created its FIFO, or another one, after the ring. */
  self->wake_fd = open(self->wake_path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  struct stat status;
  if (self->wake_fd >= 0 && (fstat(self->wake_fd, &status) != 0 || !S_ISFIFO(status.st_mode))) {
    close(self->wake_fd);
    self->wake_fd = -1;
  }
  if (self->wake_fd >= 0) {
    poke(self->wake_fd);
  }
}

static void count_drop(Writer* self, size_t counter) {
  atomic_fetch_add_explicit(field64(self, counter), 1, memory_order_relaxed);
}

/* Returns whether the file of a full ring was removed, so that the writer needs a new ring. Checks
   at most once a second. */
static bool is_unlinked(Writer* self) {
  int64_t now = now_nanos();
  if (now < self->next_link_check_nanos && now > self->next_link_check_nanos - NANOS_PER_SECOND) {
    return false;
  }
  self->next_link_check_nanos = now + NANOS_PER_SECOND;
  struct stat status;
  return fstat(self->fd, &status) == 0 && status.st_nlink == 0;
}

/* Claims, writes and publishes a record of length bytes: a header, and then body. */
static bool publish(Writer* self, const uint8_t* body, size_t length) {
  uint64_t bytes = (length + 7) & ~UINT64_C(7);
  _Atomic uint64_t* tail_field = field64(self, TAIL);
  uint64_t tail = atomic_load_explicit(tail_field, memory_order_relaxed);
  uint64_t to_end;
  uint64_t padding;
  do {
    to_end = self->ring_bytes - (tail & (self->ring_bytes - 8));
    padding = to_end < bytes ? to_end : 0;
    uint64_t used = tail - self->known_head;
    if (used > self->ring_bytes || bytes + padding > self->ring_bytes - used) {
      self->known_head = atomic_load_explicit(field64(self, HEAD), memory_order_acquire);
      used = tail - self->known_head;
      if (used > self->ring_bytes || bytes + padding > self->ring_bytes - used) {
        if (is_unlinked(self)) {
          return false;
        }
        count_drop(self, DROPPED_FULL);
        return true;
      }
    }
  } while (!atomic_compare_exchange_weak_explicit(tail_field, &tail, tail + padding + bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
  uint8_t* record = self->ring + (self->ring_bytes - to_end);
  if (padding != 0) {
    *(uint32_t*)(record + 4) = TYPE_PADDING;
    atomic_store_explicit((_Atomic int32_t*)record, (int32_t)padding, memory_order_release);
    record = self->ring;
  }
  atomic_store_explicit((_Atomic int32_t*)record, -(int32_t)length, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  *(uint32_t*)(record + 4) = TYPE_SPAN;
  memcpy(record + RECORD_HEADER, body, length - RECORD_HEADER);
  atomic_store_explicit((_Atomic int32_t*)record, (int32_t)length, memory_order_release);

  atomic_thread_fence(memory_order_seq_cst);
  _Atomic uint32_t* asleep = (_Atomic uint32_t*)(self->map + ASLEEP);
  uint32_t sleeping = 1;
  if (atomic_load_explicit(asleep, memory_order_relaxed) == 1 &&
      atomic_compare_exchange_strong(asleep, &sleeping, 0)) {
    wake(self);
  }
  return true;
}

static uint8_t put_links(Writer* self, Buffer* out, PyObject* links);

bool writer_put(Writer* self, const SpanFields* span) {
  if (self->map == NULL || self->generation != fork_generation) {
    return false;
  }
  /* Python code may compute a value's text and let other threads run: they allocate a buffer. */
  uint8_t* start = self->spare;
  self->spare = NULL;
  if (start == NULL) {
    start = PyMem_Malloc(self->max_record);
    if (start == NULL) {
      count_drop(self, DROPPED_TOO_LARGE);
      return true;
    }
  }
  Buffer out = {start + SPAN_HEAD, start + self->max_record - RECORD_HEADER, false};
  int64_t threshold = -1, randomness = -1;
  if (span->trace_state != NULL) {
    sampling_of(self, span->trace_state, &threshold, &randomness);
  }
  Py_ssize_t count = span->attributes == NULL ? 0 : PyDict_GET_SIZE(span->attributes);
  bool events = span->event_count > 0;
  int64_t duration;
  if (__builtin_sub_overflow(span->end_nanos, span->start_nanos, &duration)) {
    duration = span->end_nanos < 0 ? 0 : INT64_MAX;
  } else if (duration < 0) {
    duration = 0;
  }
  uint64_t head[6] = {span->trace_high,
                      span->trace_low,
                      span->span_id,
                      span->parent_id,
                      (uint64_t)span->start_nanos,
                      (uint64_t)duration};
  memcpy(start, head, sizeof head);
  start[48] = span->kind;
  start[49] = span->status;
  start[50] =
      (uint8_t)((threshold >= 0 ? FLAG_THRESHOLD : 0) | (randomness >= 0 ? FLAG_RANDOMNESS : 0) |
                (span->message != NULL ? FLAG_MESSAGE : 0) | (events ? FLAG_EVENTS : 0));
  uint32_t attribute_count = (uint32_t)count;
  memcpy(start + 52, &attribute_count, sizeof attribute_count);
  if (threshold >= 0) {
    put_bytes(&out, &threshold, sizeof threshold);
  }
  if (randomness >= 0) {
    put_bytes(&out, &randomness, sizeof randomness);
  }
  put_text(self, &out, span->name, false);
  if (span->message != NULL) {
    put_text(self, &out, span->message, true);
  }
  if (count > 0) {
    put_attributes(self, &out, span->attributes);
  }
  if (events) {
    put_events(self, &out, span);
  }
  start[51] = span->links == NULL ? 0 : put_links(self, &out, span->links);
  bool written = false;
  if (self->map != NULL) {
    if (out.overflowed) {
      count_drop(self, DROPPED_TOO_LARGE);
      written = true;
    } else {
      written = publish(self, start, (size_t)(out.at - start) + RECORD_HEADER);
    }
  }
  if (self->spare == NULL) {
    self->spare = start;
  } else {
    PyMem_Free(start);
  }
  raise_interrupt(self);
  return written;
}

/* ---- SDK spans ---- */

int halves_of(PyObject* trace_id, uint64_t* high, uint64_t* low) {
  static PyObject* bits;
  if (bits == NULL && (bits = PyLong_FromLong(64)) == NULL) {
    return -1;
  }
  *low = PyLong_AsUnsignedLongLongMask(trace_id);
  PyObject* upper = PyErr_Occurred() ? NULL : PyNumber_Rshift(trace_id, bits);
  if (upper == NULL) {
    return -1;
  }
  *high = PyLong_AsUnsignedLongLongMask(upper);
  Py_DECREF(upper);
  return PyErr_Occurred() ? -1 : 0;
}

int64_t nanos_of(PyObject* number) {
  PyObject* whole = PyLong_Check(number) ? Py_NewRef(number) : PyNumber_Long(number);
  int overflow = 0;
  int64_t nanos = whole == NULL ? -1 : PyLong_AsLongLongAndOverflow(whole, &overflow);
  Py_XDECREF(whole);
  if (nanos == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : nanos;
}

/* Returns a copy of the attributes of an SDK span or event as a dict; NULL if there are none. The
   property is a view, whose copy() copies the SDK's dict. */
static PyObject* dict_of(Writer* self, PyObject* attributes) {
  if (attributes == Py_None) {
    return NULL;
  }
  PyObject* copy = PyObject_CallMethodNoArgs(attributes, str_copy);
  if (copy == NULL || !PyDict_Check(copy)) {
    forgive(self);
    Py_XSETREF(copy, PyObject_CallOneArg((PyObject*)&PyDict_Type, attributes));
  }
  if (copy == NULL) {
    forgive(self);
  }
  return copy;
}

/* Returns a copy of the dict behind a span's attributes in known SDKs; the public property costs a
   truth test, a view and a copy in Python code. NULL without an error: another kind of span. */
static PyObject* own_dict_of(PyObject* sdk_span) {
  PyObject* attributes = PyObject_GetAttr(sdk_span, str_own_attributes);
  PyObject* dict = attributes != NULL && (PyObject*)Py_TYPE(attributes) == bounded_attributes
                       ? PyObject_GetAttr(attributes, str_dict)
                       : NULL;
  PyObject* copy = dict != NULL && PyDict_CheckExact(dict) ? PyDict_Copy(dict) : NULL;
  PyErr_Clear();
  Py_XDECREF(attributes);
  Py_XDECREF(dict);
  return copy;
}

/* Returns whether a span of a known SDK has none of its events or links; the public property is
   slow. */
static bool has_none(PyObject* sdk_span, PyObject* own) {
  PyObject* list = PyObject_GetAttr(sdk_span, own);
  PyObject* deque = list != NULL && (PyObject*)Py_TYPE(list) == bounded_list
                        ? PyObject_GetAttr(list, str_deque)
                        : NULL;
  bool none = deque != NULL && PyObject_Size(deque) == 0;
  PyErr_Clear();
  Py_XDECREF(list);
  Py_XDECREF(deque);
  return none;
}

/* Returns an array of a span's events, which the caller frees; skips other objects. */
static Event* events_of(Writer* self, PyObject* events, Py_ssize_t* count) {
  *count = 0;
  PyObject* all = PySequence_Tuple(events);
  Event* array =
      all == NULL ? NULL : PyMem_Calloc((size_t)PyTuple_GET_SIZE(all) + 1, sizeof(Event));
  if (all != NULL && array == NULL) {
    PyErr_NoMemory();
  }
  for (Py_ssize_t at = 0; array != NULL && at < PyTuple_GET_SIZE(all); at++) {
    PyObject* event = PyTuple_GET_ITEM(all, at);
    PyObject* name = PyObject_GetAttr(event, str_name);
    PyObject* timestamp = PyObject_GetAttr(event, str_timestamp);
    PyObject* attributes = PyObject_GetAttr(event, str_attributes);
    PyObject* dict = attributes == NULL ? NULL : dict_of(self, attributes);
    forgive(self);
    if (name == NULL || timestamp == NULL) {
      Py_XDECREF(name);
      Py_XDECREF(dict);
    } else {
      array[(*count)++] = (Event){name, dict, nanos_of(timestamp)};
    }
    Py_XDECREF(timestamp);
    Py_XDECREF(attributes);
  }
  Py_XDECREF(all);
  return array;
}

static uint8_t kind_of(PyObject* kind) {
  for (uint8_t at = 0; at < 5; at++) {
    if (kinds[at] == kind) {
      return at + 1;
    }
  }
  return 0;
}

/* Returns an attribute of an object of the API or the SDK. The property is a Python function, so
   for known types the value is read directly. */
static PyObject* attribute_of(PyObject* object, PyObject* known_type, PyObject* own,
                              PyObject* property) {
  if ((PyObject*)Py_TYPE(object) == known_type) {
    PyObject* value = PyObject_GetAttr(object, own);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
      return value;
    }
    PyErr_Clear();
  }
  return PyObject_GetAttr(object, property);
}

/* Returns an item of a span's context, which is a tuple in the API. */
static PyObject* context_item(PyObject* context, Py_ssize_t at, PyObject* property) {
  return (PyObject*)Py_TYPE(context) == context_type ? Py_NewRef(PyTuple_GET_ITEM(context, at))
                                                     : PyObject_GetAttr(context, property);
}

static int64_t flags_of(PyObject* context) {
  PyObject* value = context_item(context, CONTEXT_TRACE_FLAGS, str_trace_flags);
  int64_t number = value == NULL ? 0 : PyLong_AsLongLong(value);
  Py_XDECREF(value);
  return number;
}

static uint64_t span_id_of(PyObject* context) {
  PyObject* value = context_item(context, CONTEXT_SPAN_ID, str_span_id);
  uint64_t id = value == NULL ? 0 : PyLong_AsUnsignedLongLongMask(value);
  Py_XDECREF(value);
  return id;
}

/* Puts the IDs of the first valid links, as many as fit, and returns their number. */
static uint8_t put_links(Writer* self, Buffer* out, PyObject* links) {
  uint8_t count = 0;
  for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(links) && count < MAX_LINKS &&
                          out->end - out->at >= LINK_BYTES;
       at++) {
    uint64_t ids[3] = {0}; /* both halves of the trace ID, span ID */
    PyObject* context = PyObject_GetAttr(PySequence_Fast_GET_ITEM(links, at), str_context);
    PyObject* trace_id =
        context == NULL ? NULL : context_item(context, CONTEXT_TRACE_ID, str_trace_id);
    if (trace_id != NULL && halves_of(trace_id, &ids[0], &ids[1]) == 0) {
      ids[2] = span_id_of(context);
    }
    if (PyErr_Occurred() == NULL && (ids[0] | ids[1]) != 0 && ids[2] != 0) {
      put_bytes(out, ids, LINK_BYTES);
      count++;
    }
    forgive(self);
    Py_XDECREF(trace_id);
    Py_XDECREF(context);
  }
  return count;
}

/* Returns whether the API's contexts are tuples with the expected items. */
static bool contexts_are_tuples(void) {
  PyObject* made = PyObject_CallFunction(context_type, "iiO", 1, 2, Py_False);
  bool are = made != NULL && PyTuple_Check(made);
  static const struct {
    Py_ssize_t at;
    PyObject** property;
  } items[] = {{CONTEXT_TRACE_ID, &str_trace_id},
               {CONTEXT_SPAN_ID, &str_span_id},
               {CONTEXT_TRACE_FLAGS, &str_trace_flags},
               {CONTEXT_TRACE_STATE, &str_trace_state}};
  for (size_t i = 0; are && i < sizeof items / sizeof *items; i++) {
    PyObject* value = PyObject_GetAttr(made, *items[i].property);
    are = value != NULL && items[i].at < PyTuple_GET_SIZE(made) &&
          PyTuple_GET_ITEM(made, items[i].at) == value;
    Py_XDECREF(value);
  }
  Py_XDECREF(made);
  PyErr_Clear();
  return are;
}

PyDoc_STRVAR(write_doc,
             "write(span) -> bool\n\nWrites an SDK span that has ended, if it is sampled. False: "
             "this ring is closed, another process's, or removed; nothing was done.");

static PyObject* writer_write(PyObject* object, PyObject* sdk_span) {
  Writer* self = (Writer*)object;
  if (self->map == NULL || self->generation != fork_generation) {
    Py_RETURN_FALSE;
  }
  SpanFields span = {0};
  Event* events = NULL;
  PyObject *parent = NULL, *trace_id = NULL, *value = NULL, *result = NULL;
  PyObject* context = attribute_of(sdk_span, span_type_of_sdk, str_own_context, str_context);
  if (context == NULL || context == Py_None) {
    goto done;
  }
  int64_t flags = flags_of(context);
  if (PyErr_Occurred() || !(flags & 1)) {
    goto done;
  }
  trace_id = context_item(context, CONTEXT_TRACE_ID, str_trace_id);
  if (trace_id == NULL) {
    goto done;
  }
  /* The spans of a trace share the int. */
  if (trace_id != self->last_trace_id) {
    if (halves_of(trace_id, &self->last_trace_high, &self->last_trace_low) < 0) {
      Py_CLEAR(self->last_trace_id);
      goto done;
    }
    Py_XSETREF(self->last_trace_id, Py_NewRef(trace_id));
  }
  span.trace_high = self->last_trace_high;
  span.trace_low = self->last_trace_low;
  span.span_id = span_id_of(context);
  span.trace_state = context_item(context, CONTEXT_TRACE_STATE, str_trace_state);
  parent = attribute_of(sdk_span, span_type_of_sdk, str_own_parent, str_parent);
  if (span.trace_state == NULL || parent == NULL) {
    goto done;
  }
  if (parent != Py_None) {
    span.parent_id = span_id_of(parent);
  }
  Py_ssize_t members = span.trace_state == Py_None || span.trace_state == empty_trace_state
                           ? 0
                           : PyObject_Size(span.trace_state);
  if (members <= 0) {
    forgive(self);
    Py_CLEAR(span.trace_state);
  }
  value = attribute_of(sdk_span, span_type_of_sdk, str_own_kind, str_kind);
  if (value == NULL) {
    goto done;
  }
  span.kind = kind_of(value);
  Py_SETREF(value, attribute_of(sdk_span, span_type_of_sdk, str_own_start_time, str_start_time));
  if (value == NULL) {
    goto done;
  }
  span.start_nanos = nanos_of(value);
  Py_SETREF(value, attribute_of(sdk_span, span_type_of_sdk, str_own_end_time, str_end_time));
  if (value == NULL) {
    goto done;
  }
  span.end_nanos = nanos_of(value);
  Py_SETREF(value, attribute_of(sdk_span, span_type_of_sdk, str_own_status, str_status));
  if (value == NULL) {
    goto done;
  }
  if (value != Py_None) {
    PyObject* code = attribute_of(value, status_type, str_own_status_code, str_status_code);
    span.message = attribute_of(value, status_type, str_own_description, str_description);
    for (uint8_t at = 0; at < 3; at++) {
      if (status_codes[at] == code) {
        span.status = at;
      }
    }
    Py_XDECREF(code);
    if (code == NULL || span.message == NULL) {
      goto done;
    }
    if (span.message == Py_None) {
      Py_CLEAR(span.message);
    }
  }
  span.attributes = own_dict_of(sdk_span);
  if (span.attributes == NULL) {
    Py_SETREF(value, PyObject_GetAttr(sdk_span, str_attributes));
    if (value == NULL) {
      goto done;
    }
    span.attributes = dict_of(self, value);
  }
  if (!has_none(sdk_span, str_own_events)) {
    Py_SETREF(value, PyObject_GetAttr(sdk_span, str_events));
    if (value == NULL) {
      goto done;
    }
    events = events_of(self, value, &span.event_count);
    span.events = events;
  }
  if (span.kind == CONSUMER && !has_none(sdk_span, str_own_links)) {
    Py_SETREF(value, PyObject_GetAttr(sdk_span, str_links));
    if (value == NULL) {
      goto done;
    }
    span.links = PySequence_Tuple(value);
    forgive(self);
  }
  span.name = attribute_of(sdk_span, span_type_of_sdk, str_own_name, str_name);
  if (span.name == NULL || PyErr_Occurred()) {
    goto done;
  }
  result = PyBool_FromLong(writer_put(self, &span));
  if (PyErr_Occurred()) {
    Py_CLEAR(result);
  }
done:
  Py_XDECREF(context);
  Py_XDECREF(trace_id);
  Py_XDECREF(parent);
  Py_XDECREF(value);
  Py_XDECREF(span.trace_state);
  Py_XDECREF(span.message);
  Py_XDECREF(span.attributes);
  if (events != NULL) {
    events_free(events, span.event_count);
  }
  Py_XDECREF(span.links);
  Py_XDECREF(span.name);
  if (result == NULL && !PyErr_Occurred()) {
    result = Py_NewRef(Py_True); /* not sampled: nothing to write */
  }
  return result;
}

/* ---- the type ---- */

static void release(Writer* self) {
  if (self->map != NULL) {
    munmap(self->map, self->map_bytes);
    self->map = NULL;
  }
  if (self->fd >= 0) {
    close(self->fd);
    self->fd = -1;
  }
  if (self->wake_fd >= 0) {
    close(self->wake_fd);
    self->wake_fd = -1;
  }
}

PyDoc_STRVAR(close_doc,
             "close()\n\nUnmaps and closes the file, which drops the lock: the agent then reads "
             "what is left and removes the file. Idempotent.");

static PyObject* writer_close(PyObject* object, PyObject* none) {
  release((Writer*)object);
  Py_RETURN_NONE;
}

static void writer_dealloc(PyObject* object) {
  Writer* self = (Writer*)object;
  PyTypeObject* type = Py_TYPE(object);
  release(self);
  if (self->entries != NULL) {
    for (size_t at = 0; at <= self->entries_mask; at++) {
      Py_XDECREF(self->entries[at].text);
    }
  }
  for (int at = 0; at < 3; at++) {
    Py_XDECREF(self->interrupt[at]);
  }
  PyMem_Free(self->entries);
  PyMem_Free(self->seen);
  PyMem_Free(self->spare);
  PyMem_Free(self->wake_path);
  Py_XDECREF(self->last_trace_id);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject* writer_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"fd",         "header_bytes", "dictionary_bytes",
                          "ring_bytes", "wake_path",    NULL};
  int fd;
  unsigned long long header_bytes, dictionary_bytes, ring_bytes;
  PyObject* wake_path = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "iKKKO&:Writer", names, &fd, &header_bytes,
                                   &dictionary_bytes, &ring_bytes, PyUnicode_FSConverter,
                                   &wake_path)) {
    return NULL;
  }
  struct stat status;
  if (ring_bytes < 4096 || (ring_bytes & (ring_bytes - 1)) != 0 || header_bytes < 4096 ||
      fstat(fd, &status) != 0 ||
      (uint64_t)status.st_size != header_bytes + dictionary_bytes + ring_bytes) {
    Py_DECREF(wake_path);
    return PyErr_Format(PyExc_ValueError,
                        "header_bytes=%llu, dictionary_bytes=%llu, ring_bytes=%llu: the last must "
                        "be a power of two, and the file as long as their sum",
                        header_bytes, dictionary_bytes, ring_bytes);
  }
  Writer* self = (Writer*)type->tp_alloc(type, 0);
  if (self == NULL) {
    Py_DECREF(wake_path);
    return NULL;
  }
  self->fd = self->wake_fd = -1;
  self->map_bytes = header_bytes + dictionary_bytes + ring_bytes;
  self->dictionary_bytes = dictionary_bytes;
  self->ring_bytes = ring_bytes;
  self->max_record = ring_bytes / 4 < MAX_RECORD ? ring_bytes / 4 : MAX_RECORD;
  self->generation = fork_generation;
  self->entries_mask = 1023;
  self->entries = PyMem_Calloc(self->entries_mask + 1, sizeof(Entry));
  self->seen = PyMem_Calloc(SEEN, sizeof(Py_hash_t));
  self->spare = PyMem_Malloc(self->max_record);
  self->wake_path = PyMem_Malloc((size_t)PyBytes_GET_SIZE(wake_path) + 1);
  if (self->entries == NULL || self->seen == NULL || self->spare == NULL ||
      self->wake_path == NULL) {
    Py_DECREF(wake_path);
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  memcpy(self->wake_path, PyBytes_AS_STRING(wake_path), (size_t)PyBytes_GET_SIZE(wake_path) + 1);
  Py_DECREF(wake_path);
  void* map = mmap(NULL, self->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) {
    Py_DECREF(self);
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  self->map = map;
  self->fd = fd; /* the writer closes it from here on */
  self->dictionary = self->map + header_bytes;
  self->ring = self->dictionary + dictionary_bytes;
  return (PyObject*)self;
}

PyDoc_STRVAR(wake_doc,
             "wake()\n\nWrites a byte into the agent's FIFO, if there is one that is read.");

static PyObject* writer_wake(PyObject* object, PyObject* none) {
  wake((Writer*)object);
  Py_RETURN_NONE;
}

static PyObject* get_counter(PyObject* object, void* offset) {
  Writer* self = (Writer*)object;
  return PyLong_FromUnsignedLongLong(
      self->map == NULL ? 0 : atomic_load(field64(self, (size_t)offset)));
}

static PyObject* get_usable(PyObject* object, void* none) {
  Writer* self = (Writer*)object;
  return PyBool_FromLong(self->map != NULL && self->generation == fork_generation);
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_O, write_doc},
    {"wake", writer_wake, METH_NOARGS, wake_doc},
    {"close", writer_close, METH_NOARGS, close_doc},
    {NULL},
};

static PyGetSetDef writer_properties[] = {
    {"dropped_full", get_counter, NULL, "Spans dropped because the ring was full; 0 when closed.",
     (void*)DROPPED_FULL},
    {"dropped_too_large", get_counter, NULL, "Spans dropped because of their size; 0 when closed.",
     (void*)DROPPED_TOO_LARGE},
    {"usable", get_usable, NULL, "False if closed or made by another process.", NULL},
    {NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc,
     "Writer(fd, header_bytes, dictionary_bytes, ring_bytes, wake_path)\n\nWrites spans "
     "into the ring of an open, locked file, which it closes."},
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {Py_tp_getset, writer_properties},
    {0, NULL},
};

static PyType_Spec writer_spec = {"trace_etl_exporter._ring.Writer", sizeof(Writer), 0,
                                  Py_TPFLAGS_DEFAULT, writer_slots};

int writer_setup(PyObject* module) {
  static const struct {
    PyObject** name;
    const char* text;
  } names[] = {
      {&str_context, "context"},
      {&str_name, "name"},
      {&str_kind, "kind"},
      {&str_parent, "parent"},
      {&str_start_time, "start_time"},
      {&str_end_time, "end_time"},
      {&str_status, "status"},
      {&str_attributes, "attributes"},
      {&str_events, "events"},
      {&str_trace_id, "trace_id"},
      {&str_span_id, "span_id"},
      {&str_trace_flags, "trace_flags"},
      {&str_trace_state, "trace_state"},
      {&str_status_code, "status_code"},
      {&str_description, "description"},
      {&str_copy, "copy"},
      {&str_timestamp, "timestamp"},
      {&str_get, "get"},
      {&str_ot, "ot"},
      {&str_links, "links"},
      {&str_own_attributes, "_attributes"},
      {&str_dict, "_dict"},
      {&str_own_events, "_events"},
      {&str_own_links, "_links"},
      {&str_deque, "_dq"},
      {&str_own_context, "_context"},
      {&str_own_name, "_name"},
      {&str_own_kind, "_kind"},
      {&str_own_parent, "_parent"},
      {&str_own_start_time, "_start_time"},
      {&str_own_end_time, "_end_time"},
      {&str_own_status, "_status"},
      {&str_own_status_code, "_status_code"},
      {&str_own_description, "_description"},
  };
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    if ((*names[at].name = PyUnicode_InternFromString(names[at].text)) == NULL) {
      return -1;
    }
  }
  PyObject* values = PyImport_ImportModule("trace_etl_exporter._values");
  other_value = values == NULL ? NULL : PyObject_GetAttrString(values, "other_value");
  Py_XDECREF(values);
  PyObject* api = PyImport_ImportModule("opentelemetry.trace");
  PyObject* kind = api == NULL ? NULL : PyObject_GetAttrString(api, "SpanKind");
  PyObject* code = api == NULL ? NULL : PyObject_GetAttrString(api, "StatusCode");
  PyObject* attributes = PyImport_ImportModule("opentelemetry.attributes");
  PyObject* util = PyImport_ImportModule("opentelemetry.sdk.util");
  if (other_value == NULL || kind == NULL || code == NULL || attributes == NULL || util == NULL ||
      (bounded_attributes = PyObject_GetAttrString(attributes, "BoundedAttributes")) == NULL ||
      (bounded_list = PyObject_GetAttrString(util, "BoundedList")) == NULL) {
    return -1;
  }
  PyObject* sdk = PyImport_ImportModule("opentelemetry.sdk.trace");
  if (sdk == NULL || (span_type_of_sdk = PyObject_GetAttrString(sdk, "ReadableSpan")) == NULL ||
      (status_type = PyObject_GetAttrString(api, "Status")) == NULL ||
      (context_type = PyObject_GetAttrString(api, "SpanContext")) == NULL ||
      (empty_trace_state = PyObject_GetAttrString(api, "DEFAULT_TRACE_STATE")) == NULL) {
    return -1;
  }
  if (!contexts_are_tuples()) {
    Py_SETREF(context_type, Py_NewRef(Py_None)); /* the type of none */
  }
  Py_DECREF(sdk);
  Py_DECREF(api);
  Py_DECREF(attributes);
  Py_DECREF(util);
  static const char* code_names[] = {"UNSET", "OK", "ERROR"};
  for (int at = 0; at < 3; at++) {
    if ((status_codes[at] = PyObject_GetAttrString(code, code_names[at])) == NULL) {
      return -1;
    }
  }
  Py_DECREF(code);
  static const char* kind_names[] = {"INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"};
  for (int at = 0; at < 5; at++) {
    if ((kinds[at] = PyObject_GetAttrString(kind, kind_names[at])) == NULL) {
      return -1;
    }
  }
  Py_DECREF(kind);
  if (pthread_atfork(NULL, NULL, in_forked_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  writer_type = (PyTypeObject*)PyType_FromSpec(&writer_spec);
  return writer_type == NULL ? -1 : PyModule_AddObjectRef(module, "Writer", (PyObject*)writer_type);
}
