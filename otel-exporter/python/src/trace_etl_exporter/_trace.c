/* Tracer and Span on OpenTelemetry's API. end() writes the span into the ring without creating an
   object. The behaviour is the SDK's; tests compare the two. _rare.py handles rare cases. */
#include "_writer.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>
#include <sys/random.h>
#include <time.h>

enum { UNSET = 0, OK = 1, ERROR = 2 };
enum { FLAG_SAMPLED = 1, FLAG_RANDOM = 2 };
enum { KINDS = 5 };

typedef enum { ROOT_ON, ROOT_OFF, ROOT_RATIO, ASK_SAMPLER } RootDecision;

/* State that the tracers of a provider share. */
typedef struct {
  PyObject_HEAD PyObject* writer; /* a Writer, or None */
  PyObject* elsewhere;            /* called with a span that the writer did not take */
  PyObject* provider;             /* for span.resource */
  PyObject* sampler;
  RootDecision root;
  bool parent_based;
  uint64_t ratio_bound;
  /* -1: no limit */
  Py_ssize_t max_attributes, max_events, max_links, max_event_attributes, max_link_attributes,
      max_length, max_span_length;
} Recorder;

typedef struct {
  PyObject_HEAD Recorder* recorder;
  PyObject* scope;
} Tracer;

typedef struct {
  PyObject_HEAD Tracer* tracer;
  uint64_t trace_high, trace_low, span_id, parent_id;
  int64_t start_nanos, end_nanos;
  uint8_t kind;   /* as in OTLP; 0: not one of the API */
  uint8_t status; /* as in OTLP */
  uint8_t flags;
  uint8_t parent_flags;
  bool has_parent;
  bool parent_is_remote;
  bool recording; /* false after end() */
  bool ended;
  bool record_exception;
  bool set_status_on_exception;
  PyObject* name;
  PyObject* message;
  PyObject* trace_state;        /* NULL: empty */
  PyObject* parent_trace_state; /* NULL: empty */
  PyObject* context;            /* created at the first request */
  PyObject* attributes;         /* a dict */
  Event* events;                /* event_count events; capacity event_room */
  Py_ssize_t event_count, event_room;
  PyObject* links; /* a list */
  Py_ssize_t dropped_attributes, dropped_events, dropped_links;
  PyObject* weak_references;
} Span;

/* The result of start_as_current_span(), a context manager. */
typedef struct {
  PyObject_HEAD Tracer* tracer;
  PyObject* arguments[6]; /* name to start_time */
  bool record_exception;
  bool set_status_on_exception;
  bool end_on_exit;
  PyObject* span;
  PyObject* token;
} Current;

static PyTypeObject *recorder_type, *tracer_type, *span_type, *current_type;

static PyObject *span_class, *span_context_class, *status_class, *context_class;
static PyObject *status_codes[3], *kinds[KINDS], *trace_flags[4], *empty_state;
static PyObject* span_key; /* of the current span in a context */
static PyObject*
    current_variable; /* the ContextVar of the API's context, or NULL: use its functions */
static PyObject *attach, *detach, *get_current, *set_value;
static uint8_t random_flag;
/* from _rare.py */
static PyObject *rare_clean, *rare_link, *rare_own_link, *rare_exception, *rare_warn,
    *rare_decorate, *rare_events, *rare_description;
static PyObject *str_is_valid, *str_span_id, *str_trace_id, *str_trace_flags, *str_trace_state,
    *str_is_remote, *str_get_span_context, *str_should_sample, *str_decision, *str_attributes,
    *str_is_recording, *str_is_sampled, *str_status_code, *str_description, *str_resource;

/* ---- random IDs ---- */

static _Thread_local struct {
  uint64_t state[4];
  unsigned generation; /* fork count at seeding + 1; 0: not seeded */
} random_source;

static inline uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

/* xoshiro256**, seeded by the kernel: IDs must be distinct, not secret. Never 0. */
static uint64_t random_id(void) {
  uint64_t* s = random_source.state;
  if (random_source.generation != fork_generation + 1) {
    if (getentropy(s, sizeof random_source.state) != 0 || (s[0] | s[1] | s[2] | s[3]) == 0) {
      s[0] = (uint64_t)now_nanos();
      s[1] = (uint64_t)(uintptr_t)s;
      s[2] = fork_generation + UINT64_C(0x9E3779B97F4A7C15);
    }
    random_source.generation = fork_generation + 1;
  }
  uint64_t value;
  do {
    value = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
  } while (value == 0);
  return value;
}

static PyObject* int_of_halves(uint64_t high, uint64_t low) {
  uint8_t bytes[16];
  for (int at = 0; at < 8; at++) {
    bytes[at] = (uint8_t)(low >> 8 * at);
    bytes[8 + at] = (uint8_t)(high >> 8 * at);
  }
  return PyObject_CallMethod((PyObject*)&PyLong_Type, "from_bytes", "y#s", bytes, (Py_ssize_t)16,
                             "little");
}

/* ---- attributes ---- */

/* Puts an attribute as the SDK's BoundedAttributes does: a replaced attribute moves to the end, and
   above the limit the oldest is removed. Steals no reference. */
static int put_attribute(PyObject* attributes, PyObject* key, PyObject* value, Py_ssize_t most,
                         Py_ssize_t* dropped) {
  int there = PyDict_Contains(attributes, key);
  if (there < 0 || (there && PyDict_DelItem(attributes, key) < 0)) {
    return -1;
  }
  if (most >= 0 && PyDict_GET_SIZE(attributes) >= most) {
    Py_ssize_t position = 0;
    PyObject* oldest;
    if (PyDict_Next(attributes, &position, &oldest, NULL)) {
      Py_INCREF(oldest);
      int deleted = PyDict_DelItem(attributes, oldest);
      Py_DECREF(oldest);
      if (deleted < 0) {
        return -1;
      }
    }
    ++*dropped;
  }
  return PyDict_SetItem(attributes, key, value);
}

static inline bool is_plain_key(PyObject* key) {
  return PyUnicode_CheckExact(key) && PyUnicode_GET_LENGTH(key) > 0;
}

/* Returns whether the SDK would keep the value unchanged. */
static inline bool is_plain_value(PyObject* value, Py_ssize_t longest) {
  if (PyUnicode_CheckExact(value)) {
    return longest < 0 || PyUnicode_GET_LENGTH(value) <= longest;
  }
  return PyLong_CheckExact(value) || PyBool_Check(value) || PyFloat_CheckExact(value);
}

static bool are_plain(PyObject* attributes, Py_ssize_t longest) {
  if (!PyDict_CheckExact(attributes)) {
    return false;
  }
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (PyDict_Next(attributes, &position, &key, &value)) {
    if (!is_plain_key(key) || !is_plain_value(value, longest)) {
      return false;
    }
  }
  return true;
}

/* Adds the items of a dict of plain attributes; creates *to if it is NULL. Runs no Python code. */
static int put_plain(PyObject** to, PyObject* attributes, Py_ssize_t most, Py_ssize_t* dropped) {
  if (*to == NULL && (most < 0 || PyDict_GET_SIZE(attributes) <= most)) {
    *to = PyDict_Copy(attributes);
    return *to == NULL ? -1 : 0;
  }
  if (*to == NULL && (*to = PyDict_New()) == NULL) {
    return -1;
  }
  Py_ssize_t position = 0;
  PyObject *key, *value;
  while (PyDict_Next(attributes, &position, &key, &value)) {
    if (put_attribute(*to, key, value, most, dropped) < 0) {
      return -1;
    }
  }
  return 0;
}

/* Returns a mapping as the SDK would store it: itself if it is plain, else the result of the SDK's
   code, with exact strings as keys. Python code may end the span meanwhile. */
static PyObject* cleaned(PyObject* attributes, Py_ssize_t most, Py_ssize_t longest,
                         Py_ssize_t* dropped) {
  if (most != 0 && are_plain(attributes, longest)) {
    return Py_NewRef(attributes);
  }
  PyObject* pair = PyObject_CallFunction(rare_clean, "Onn", attributes, most, longest);
  if (pair == NULL) {
    return NULL;
  }
  PyObject* dict = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
  *dropped += PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 1));
  Py_DECREF(pair);
  return dict;
}

/* ---- spans ---- */

static void warn(const char* message) {
  PyObject* done = PyObject_CallFunction(rare_warn, "s", message);
  if (done == NULL) {
    PyErr_WriteUnraisable(NULL);
  }
  Py_XDECREF(done);
}

/* Returns whether the span may be changed. A span that does not record warns of nothing, as in the
   API. */
static inline bool is_open(const Span* self, const char* warning) {
  if (self->recording) {
    return true;
  }
  if (self->ended) {
    warn(warning);
  }
  return false;
}

static void span_dealloc(PyObject* object) {
  Span* self = (Span*)object;
  PyTypeObject* type = Py_TYPE(object);
  if (self->weak_references != NULL) {
    PyObject_ClearWeakRefs(object);
  }
  Py_XDECREF(self->tracer);
  Py_XDECREF(self->name);
  Py_XDECREF(self->message);
  Py_XDECREF(self->trace_state);
  Py_XDECREF(self->parent_trace_state);
  Py_XDECREF(self->context);
  Py_XDECREF(self->attributes);
  if (self->events != NULL) {
    events_free(self->events, self->event_count);
  }
  Py_XDECREF(self->links);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* new_context(uint64_t high, uint64_t low, uint64_t id, bool remote, uint8_t flags,
                             PyObject* state) {
  PyObject* trace_id = int_of_halves(high, low);
  PyObject* span_id = PyLong_FromUnsignedLongLong(id);
  PyObject* context = NULL;
  if (trace_id != NULL && span_id != NULL) {
    PyObject* arguments[] = {trace_id, span_id, remote ? Py_True : Py_False, trace_flags[flags & 3],
                             state == NULL ? empty_state : state};
    context = PyObject_Vectorcall(span_context_class, arguments, 5, NULL);
  }
  Py_XDECREF(trace_id);
  Py_XDECREF(span_id);
  return context;
}

static PyObject* span_get_span_context(PyObject* object, PyObject* none) {
  Span* self = (Span*)object;
  if (self->context == NULL) {
    self->context = new_context(self->trace_high, self->trace_low, self->span_id, false,
                                self->flags, self->trace_state);
  }
  return Py_XNewRef(self->context);
}

static PyObject* span_is_recording(PyObject* object, PyObject* none) {
  return PyBool_FromLong(((Span*)object)->recording);
}

static int set_all(Span* self, PyObject* attributes) {
  const Recorder* limits = self->tracer->recorder;
  Py_ssize_t dropped = 0;
  PyObject* plain = cleaned(attributes, limits->max_attributes, limits->max_span_length, &dropped);
  if (plain == NULL) {
    return -1;
  }
  int failed = 0;
  if (self->recording) {
    self->dropped_attributes += dropped;
    failed = put_plain(&self->attributes, plain, limits->max_attributes, &self->dropped_attributes);
  }
  Py_DECREF(plain);
  return failed;
}

static PyObject* span_set_attributes(PyObject* object, PyObject* attributes) {
  if (is_open((Span*)object, "Setting attribute on ended span.") &&
      set_all((Span*)object, attributes) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* set_one(Span* self, PyObject* key, PyObject* value) {
  const Recorder* limits = self->tracer->recorder;
  if (!is_open(self, "Setting attribute on ended span.")) {
    Py_RETURN_NONE;
  }
  if (limits->max_attributes != 0 && is_plain_key(key) &&
      is_plain_value(value, limits->max_span_length)) {
    if (self->attributes == NULL && (self->attributes = PyDict_New()) == NULL) {
      return NULL;
    }
    if (put_attribute(self->attributes, key, value, limits->max_attributes,
                      &self->dropped_attributes) < 0) {
      return NULL;
    }
    Py_RETURN_NONE;
  }
  if (limits->max_attributes == 0 || !PyUnicode_Check(key) || PyUnicode_GET_LENGTH(key) == 0) {
    self->dropped_attributes++;
    if (limits->max_attributes != 0) {
      warn("An attribute's key must be a non-empty string; the attribute is dropped.");
    }
    Py_RETURN_NONE;
  }
  PyObject* one = PyDict_New();
  int failed = one == NULL || PyDict_SetItem(one, key, value) < 0 || set_all(self, one) < 0;
  Py_XDECREF(one);
  if (failed) {
    return NULL;
  }
  Py_RETURN_NONE;
}

/* Puts positional and named arguments into slots, by the names of the API's methods. */
static int bind(const char* method, const char* const* names, int slots, int required,
                PyObject* const* given, Py_ssize_t count, PyObject* by_name, PyObject** into) {
  if (count > slots) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments (%zd given)", method, slots,
                 count);
    return -1;
  }
  for (Py_ssize_t at = 0; at < count; at++) {
    into[at] = given[at];
  }
  Py_ssize_t named = by_name == NULL ? 0 : PyTuple_GET_SIZE(by_name);
  for (Py_ssize_t at = 0; at < named; at++) {
    PyObject* name = PyTuple_GET_ITEM(by_name, at);
    int slot = 0;
    while (slot < slots && PyUnicode_CompareWithASCIIString(name, names[slot]) != 0) {
      slot++;
    }
    if (slot == slots || into[slot] != NULL) {
      PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", method,
                   slot == slots ? "an unexpected" : "multiple values for", name);
      return -1;
    }
    into[slot] = given[count + at];
  }
  for (int slot = 0; slot < required; slot++) {
    if (into[slot] == NULL) {
      PyErr_Format(PyExc_TypeError, "%s() missing argument '%s'", method, names[slot]);
      return -1;
    }
  }
  return 0;
}

static PyObject* span_set_attribute(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                    PyObject* names) {
  static const char* const slots[] = {"key", "value"};
  PyObject* bound[2] = {0};
  if (bind("set_attribute", slots, 2, 2, args, count, names, bound) < 0) {
    return NULL;
  }
  return set_one((Span*)object, bound[0], bound[1]);
}

/* Appends; at the limit removes the oldest. */
static int append_bounded(PyObject** list, PyObject* item, Py_ssize_t most, Py_ssize_t* dropped) {
  if (*list == NULL && (*list = PyList_New(0)) == NULL) {
    return -1;
  }
  if (most >= 0 && PyList_GET_SIZE(*list) >= most) {
    ++*dropped;
    if (most == 0 || PySequence_DelItem(*list, 0) < 0) {
      return most == 0 ? 0 : -1;
    }
  }
  return PyList_Append(*list, item);
}

/* Like append_bounded, for an event; takes over its references. */
static int append_event(Span* self, Event event) {
  Py_ssize_t most = self->tracer->recorder->max_events;
  Event gone = {0};
  if (most >= 0 && self->event_count >= most) {
    self->dropped_events++;
    gone = event;
    if (most > 0) {
      gone = self->events[0];
      memmove(self->events, self->events + 1, (size_t)(most - 1) * sizeof(Event));
      self->events[most - 1] = event;
    }
  } else {
    if (self->event_count == self->event_room) {
      Py_ssize_t wider = self->event_room == 0 ? 4 : 2 * self->event_room;
      Event* events = PyMem_Realloc(self->events, (size_t)wider * sizeof(Event));
      if (events == NULL) {
        Py_DECREF(event.name);
        Py_XDECREF(event.attributes);
        PyErr_NoMemory();
        return -1;
      }
      self->events = events;
      self->event_room = wider;
    }
    self->events[self->event_count++] = event;
  }
  /* Last, because it may run other code. */
  Py_XDECREF(gone.name);
  Py_XDECREF(gone.attributes);
  return 0;
}

static PyObject* add_event(Span* self, PyObject* name, PyObject* attributes, PyObject* timestamp) {
  const Recorder* limits = self->tracer->recorder;
  if (!is_open(self, "Tried calling _add_event on an ended span.")) {
    Py_RETURN_NONE;
  }
  int64_t nanos = timestamp == NULL || timestamp == Py_None ? now_nanos() : nanos_of(timestamp);
  PyObject* dict = NULL;
  if (attributes != NULL && attributes != Py_None) {
    Py_ssize_t dropped = 0;
    PyObject* plain =
        cleaned(attributes, limits->max_event_attributes, limits->max_length, &dropped);
    int failed =
        plain == NULL || put_plain(&dict, plain, limits->max_event_attributes, &dropped) < 0;
    Py_XDECREF(plain);
    if (failed) {
      Py_XDECREF(dict);
      return NULL;
    }
  }
  /* Code that ran meanwhile may have ended the span. */
  if (!self->recording) {
    Py_XDECREF(dict);
  } else if (append_event(self, (Event){Py_NewRef(name), dict, nanos}) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* span_add_event(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                PyObject* names) {
  static const char* const slots[] = {"name", "attributes", "timestamp"};
  PyObject* bound[3] = {0};
  if (bind("add_event", slots, 3, 1, args, count, names, bound) < 0) {
    return NULL;
  }
  return add_event((Span*)object, bound[0], bound[1], bound[2]);
}

/* Appends a link with bounded attributes, or None if the given link is not valid. */
static int append_link(Span* self, PyObject* link) {
  int failed = link == NULL ? -1
               : link == Py_None || !self->recording
                   ? 0
                   : append_bounded(&self->links, link, self->tracer->recorder->max_links,
                                    &self->dropped_links);
  Py_XDECREF(link);
  return failed;
}

static PyObject* span_add_link(PyObject* object, PyObject* const* args, Py_ssize_t count,
                               PyObject* names) {
  static const char* const slots[] = {"context", "attributes"};
  PyObject* bound[2] = {0};
  if (bind("add_link", slots, 2, 1, args, count, names, bound) < 0) {
    return NULL;
  }
  Span* self = (Span*)object;
  const Recorder* limits = self->tracer->recorder;
  if (is_open(self, "Tried calling _add_link on an ended span.") &&
      append_link(self, PyObject_CallFunction(
                            rare_link, "OOnn", bound[0], bound[1] == NULL ? Py_None : bound[1],
                            limits->max_link_attributes, limits->max_length)) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* span_update_name(PyObject* object, PyObject* name) {
  Span* self = (Span*)object;
  if (is_open(self, "Tried calling update_name on an ended span.")) {
    Py_SETREF(self->name, Py_NewRef(name));
  }
  Py_RETURN_NONE;
}

static int code_of(PyObject* code) {
  for (int at = 0; at < 3; at++) {
    if (status_codes[at] == code) {
      return at;
    }
  }
  return -1;
}

static PyObject* set_status(Span* self, PyObject* status, PyObject* description) {
  if (!is_open(self, "Tried calling set_status on an ended span.")) {
    Py_RETURN_NONE;
  }
  PyObject* message = NULL;
  int code = code_of(status);
  if (code >= 0) {
    if (self->status == OK || code == UNSET) {
      Py_RETURN_NONE;
    }
    if (description != NULL && description != Py_None) {
      message = PyObject_CallFunctionObjArgs(rare_description, status, description, NULL);
      if (message == NULL) {
        return NULL;
      }
    }
  } else {
    int is_status = PyObject_IsInstance(status, status_class);
    if (is_status <= 0) {
      return is_status < 0 ? NULL : Py_NewRef(Py_None);
    }
    PyObject* member = PyObject_GetAttr(status, str_status_code);
    if (member == NULL) {
      return NULL;
    }
    code = code_of(member);
    Py_DECREF(member);
    if (self->status == OK || code <= UNSET) {
      Py_RETURN_NONE;
    }
    if (description != NULL && description != Py_None) {
      warn("The description is ignored. Use either `Status` or `(StatusCode, Description)`");
    }
    message = PyObject_GetAttr(status, str_description);
    if (message == NULL) {
      return NULL;
    }
  }
  if (!self->recording) {
    Py_XDECREF(message); /* the span ended while the description was computed */
    Py_RETURN_NONE;
  }
  self->status = (uint8_t)code;
  if (message == Py_None) {
    Py_CLEAR(message);
  }
  Py_XSETREF(self->message, message);
  Py_RETURN_NONE;
}

static PyObject* span_set_status(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                 PyObject* names) {
  static const char* const slots[] = {"status", "description"};
  PyObject* bound[2] = {0};
  if (bind("set_status", slots, 2, 1, args, count, names, bound) < 0) {
    return NULL;
  }
  return set_status((Span*)object, bound[0], bound[1]);
}

/* rare_exception returns the attributes of the event. */
static PyObject* record_exception(Span* self, PyObject* exception, PyObject* attributes,
                                  PyObject* timestamp, bool escaped) {
  if (!self->recording && !self->ended) {
    Py_RETURN_NONE;
  }
  static PyObject* name;
  if (name == NULL && (name = PyUnicode_InternFromString("exception")) == NULL) {
    return NULL;
  }
  PyObject* all = PyObject_CallFunctionObjArgs(rare_exception, exception, attributes,
                                               escaped ? Py_True : Py_False, NULL);
  PyObject* done = all == NULL ? NULL : add_event(self, name, all, timestamp);
  Py_XDECREF(all);
  return done;
}

static PyObject* span_record_exception(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                       PyObject* names) {
  static const char* const slots[] = {"exception", "attributes", "timestamp", "escaped"};
  PyObject* bound[4] = {0};
  if (bind("record_exception", slots, 4, 1, args, count, names, bound) < 0) {
    return NULL;
  }
  int escaped = bound[3] == NULL ? 0 : PyObject_IsTrue(bound[3]);
  return escaped < 0 ? NULL
                     : record_exception((Span*)object, bound[0],
                                        bound[1] == NULL ? Py_None : bound[1], bound[2], escaped);
}

/* Reports an internal error, which must not reach the application. Returns -1 and keeps the error
   if it is not an Exception (KeyboardInterrupt, SystemExit). */
static int report(PyObject* where) {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
    return -1;
  }
  PyErr_WriteUnraisable(where);
  return 0;
}

/* Records the exception that left a with block. A failure to record must not hide it. */
static int record_error(Span* self, PyObject* exception, bool record, bool set, bool escaped) {
  if (record) {
    PyObject* done = record_exception(self, exception, Py_None, NULL, escaped);
    if (done == NULL && report((PyObject*)self) < 0) {
      return -1;
    }
    Py_XDECREF(done);
  }
  if (set) {
    const char* type = strrchr(Py_TYPE(exception)->tp_name, '.');
    PyObject* text = PyUnicode_FromFormat(
        "%s: %S", type == NULL ? Py_TYPE(exception)->tp_name : type + 1, exception);
    if (text == NULL) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return -1;
      }
      PyErr_Clear();
    }
    PyObject* done = set_status(self, status_codes[ERROR], text);
    Py_XDECREF(text);
    if (done == NULL && report((PyObject*)self) < 0) {
      return -1;
    }
    Py_XDECREF(done);
  }
  return 0;
}

static int end(Span* self, PyObject* end_time) {
  if (!is_open(self, "Calling end() on an ended span.")) {
    return 0;
  }
  int64_t end_nanos = end_time == NULL || end_time == Py_None ? now_nanos() : nanos_of(end_time);
  self->end_nanos = end_nanos;
  /* From here on the span does not change: other code checks `recording` again after it has run
     Python code. */
  self->recording = false;
  self->ended = true;
  if (!(self->flags & FLAG_SAMPLED)) {
    return 0;
  }
  Recorder* recorder = self->tracer->recorder;
  PyObject* writer = Py_IS_TYPE(recorder->writer, writer_type) ? Py_NewRef(recorder->writer) : NULL;
  bool written = false;
  if (writer != NULL) {
    SpanFields fields = {
        .trace_high = self->trace_high,
        .trace_low = self->trace_low,
        .span_id = self->span_id,
        .parent_id = self->parent_id,
        .start_nanos = self->start_nanos,
        .end_nanos = self->end_nanos,
        .kind = self->kind,
        .status = self->status,
        .name = self->name,
        .message = self->message,
        .trace_state = self->trace_state,
        .attributes = self->attributes,
        .events = self->events,
        .event_count = self->event_count,
        .links = self->kind == CONSUMER ? self->links : NULL,
    };
    written = writer_put((Writer*)writer, &fields);
  }
  if (written || PyErr_Occurred()) {
    Py_XDECREF(writer);
    return PyErr_Occurred() ? -1 : 0;
  }
  PyObject* done = PyObject_CallFunctionObjArgs(recorder->elsewhere, (PyObject*)self,
                                                writer == NULL ? Py_None : writer, NULL);
  Py_XDECREF(writer);
  Py_XDECREF(done);
  return done == NULL ? report(recorder->elsewhere) : 0;
}

static PyObject* span_end(PyObject* object, PyObject* const* args, Py_ssize_t count,
                          PyObject* names) {
  static const char* const slots[] = {"end_time"};
  PyObject* bound[1] = {0};
  if (bind("end", slots, 1, 0, args, count, names, bound) < 0 || end((Span*)object, bound[0]) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* span_enter(PyObject* object, PyObject* none) { return Py_NewRef(object); }

static PyObject* span_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  Span* self = (Span*)object;
  if (count == 3 && args[1] != Py_None && self->recording &&
      record_error(self, args[1], self->record_exception, self->set_status_on_exception, true) <
          0) {
    return NULL;
  }
  if (end(self, NULL) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* span_repr(PyObject* object) {
  PyObject* context = span_get_span_context(object, NULL);
  PyObject* text = context == NULL ? NULL
                                   : PyUnicode_FromFormat("Span(name=%R, context=%R)",
                                                          ((Span*)object)->name, context);
  Py_XDECREF(context);
  return text;
}

static PyObject* get_parent(PyObject* object, void* none) {
  Span* self = (Span*)object;
  if (!self->has_parent) {
    Py_RETURN_NONE;
  }
  return new_context(self->trace_high, self->trace_low, self->parent_id, self->parent_is_remote,
                     self->parent_flags, self->parent_trace_state);
}

static PyObject* get_context(PyObject* object, void* none) {
  return span_get_span_context(object, NULL);
}

static PyObject* get_kind(PyObject* object, void* none) {
  Span* self = (Span*)object;
  return Py_NewRef(self->kind == 0 ? Py_None : kinds[self->kind - 1]);
}

static PyObject* get_start_time(PyObject* object, void* none) {
  return PyLong_FromLongLong(((Span*)object)->start_nanos);
}

static PyObject* get_end_time(PyObject* object, void* none) {
  Span* self = (Span*)object;
  return self->ended ? PyLong_FromLongLong(self->end_nanos) : Py_NewRef(Py_None);
}

static PyObject* get_status(PyObject* object, void* none) {
  Span* self = (Span*)object;
  return PyObject_CallFunctionObjArgs(status_class, status_codes[self->status],
                                      self->message == NULL ? Py_None : self->message, NULL);
}

static PyObject* get_attributes(PyObject* object, void* none) {
  Span* self = (Span*)object;
  if (self->attributes == NULL && (self->attributes = PyDict_New()) == NULL) {
    return NULL;
  }
  return PyDictProxy_New(self->attributes);
}

static PyObject* get_events(PyObject* object, void* none) {
  Span* self = (Span*)object;
  PyObject* all = PyList_New(0);
  for (Py_ssize_t at = 0; all != NULL && at < self->event_count; at++) {
    const Event* event = &self->events[at];
    PyObject* one = Py_BuildValue("(OLO)", event->name, (long long)event->nanos,
                                  event->attributes == NULL ? Py_None : event->attributes);
    if (one == NULL || PyList_Append(all, one) < 0) {
      Py_CLEAR(all);
    }
    Py_XDECREF(one);
  }
  PyObject* events = all == NULL ? NULL : PyObject_CallOneArg(rare_events, all);
  Py_XDECREF(all);
  return events;
}

static PyObject* get_links(PyObject* object, void* none) {
  Span* self = (Span*)object;
  return self->links == NULL ? PyTuple_New(0) : PyList_AsTuple(self->links);
}

static PyObject* get_scope(PyObject* object, void* none) {
  return Py_NewRef(((Span*)object)->tracer->scope);
}

static PyObject* get_resource(PyObject* object, void* none) {
  return PyObject_GetAttr(((Span*)object)->tracer->recorder->provider, str_resource);
}

static PyMethodDef span_methods[] = {
    {"end", (PyCFunction)(void (*)(void))span_end, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"get_span_context", span_get_span_context, METH_NOARGS, NULL},
    {"set_attributes", span_set_attributes, METH_O, NULL},
    {"set_attribute", (PyCFunction)(void (*)(void))span_set_attribute,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"add_event", (PyCFunction)(void (*)(void))span_add_event, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"add_link", (PyCFunction)(void (*)(void))span_add_link, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"update_name", span_update_name, METH_O, NULL},
    {"is_recording", span_is_recording, METH_NOARGS, NULL},
    {"set_status", (PyCFunction)(void (*)(void))span_set_status, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"record_exception", (PyCFunction)(void (*)(void))span_record_exception,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__enter__", span_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL, NULL},
    {NULL},
};

static PyGetSetDef span_properties[] = {
    {"context", get_context, NULL, NULL, NULL},
    {"parent", get_parent, NULL, NULL, NULL},
    {"kind", get_kind, NULL, NULL, NULL},
    {"start_time", get_start_time, NULL, NULL, NULL},
    {"end_time", get_end_time, NULL, NULL, NULL},
    {"status", get_status, NULL, NULL, NULL},
    {"attributes", get_attributes, NULL, NULL, NULL},
    {"events", get_events, NULL, NULL, NULL},
    {"links", get_links, NULL, NULL, NULL},
    {"resource", get_resource, NULL, NULL, NULL},
    {"instrumentation_scope", get_scope, NULL, NULL, NULL},
    {NULL},
};

static PyMemberDef span_members[] = {
    {"name", T_OBJECT, offsetof(Span, name), READONLY, NULL},
    {"dropped_attributes", T_PYSSIZET, offsetof(Span, dropped_attributes), READONLY, NULL},
    {"dropped_events", T_PYSSIZET, offsetof(Span, dropped_events), READONLY, NULL},
    {"dropped_links", T_PYSSIZET, offsetof(Span, dropped_links), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Span, weak_references), READONLY, NULL},
    {NULL},
};

static PyType_Slot span_slots[] = {
    {Py_tp_doc, "A span, which end() writes into the ring."},
    {Py_tp_dealloc, span_dealloc},
    {Py_tp_repr, span_repr},
    {Py_tp_methods, span_methods},
    {Py_tp_getset, span_properties},
    {Py_tp_members, span_members},
    {0, NULL},
};

/* ---- tracers ---- */

/* Returns the span of a context (NULL or None: the current context), owned, or NULL for none. */
static int current_span(PyObject* context, PyObject** span) {
  PyObject* found = NULL;
  *span = NULL;
  if (context != NULL && context != Py_None) {
    Py_INCREF(context);
  } else if (current_variable != NULL) {
    if (PyContextVar_Get(current_variable, NULL, &context) < 0) {
      return -1;
    }
  } else {
    context = PyObject_CallNoArgs(get_current);
  }
  if (context == NULL) {
    if (current_variable == NULL) {
      return -1;
    }
    return 0;
  }
  if (PyDict_Check(context)) {
    found = Py_XNewRef(PyDict_GetItemWithError(context, span_key));
  } else {
    found = PyObject_CallMethod(context, "get", "O", span_key);
  }
  Py_DECREF(context);
  if (found == NULL) {
    return PyErr_Occurred() ? -1 : 0;
  }
  if (!Py_IS_TYPE(found, span_type)) {
    int is_span = PyObject_IsInstance(found, span_class);
    if (is_span <= 0) {
      Py_DECREF(found);
      return is_span;
    }
  }
  *span = found;
  return 0;
}

/* Copies what a child inherits from a parent of another implementation. */
static int inherit(Span* self, PyObject* parent) {
  PyObject* context = PyObject_CallMethodNoArgs(parent, str_get_span_context);
  if (context == NULL || context == Py_None) {
    Py_XDECREF(context);
    return context == NULL ? -1 : 0;
  }
  int is_context = PyObject_IsInstance(context, span_context_class);
  if (is_context <= 0) {
    if (is_context == 0) {
      PyErr_SetString(PyExc_TypeError, "parent_span_context must be a SpanContext or None.");
    }
    Py_DECREF(context);
    return -1;
  }
  int failed = -1;
  PyObject *trace_id = NULL, *span_id = NULL, *flags = NULL, *state = NULL, *remote = NULL;
  PyObject* valid = PyObject_GetAttr(context, str_is_valid);
  if (valid == NULL || valid == Py_False) {
    failed = valid == NULL ? -1 : 0;
    goto done;
  }
  trace_id = PyObject_GetAttr(context, str_trace_id);
  span_id = PyObject_GetAttr(context, str_span_id);
  flags = PyObject_GetAttr(context, str_trace_flags);
  state = PyObject_GetAttr(context, str_trace_state);
  remote = PyObject_GetAttr(context, str_is_remote);
  if (trace_id == NULL || span_id == NULL || flags == NULL || state == NULL || remote == NULL ||
      halves_of(trace_id, &self->trace_high, &self->trace_low) < 0) {
    goto done;
  }
  self->parent_id = PyLong_AsUnsignedLongLongMask(span_id);
  self->parent_flags = (uint8_t)PyLong_AsUnsignedLongMask(flags);
  self->parent_is_remote = PyObject_IsTrue(remote) == 1;
  self->has_parent = true;
  Py_ssize_t members = state == Py_None ? 0 : PyObject_Size(state);
  if (members > 0) {
    self->parent_trace_state = Py_NewRef(state);
  }
  failed = PyErr_Occurred() ? -1 : 0;
done:
  Py_DECREF(context);
  Py_XDECREF(valid);
  Py_XDECREF(trace_id);
  Py_XDECREF(span_id);
  Py_XDECREF(flags);
  Py_XDECREF(state);
  Py_XDECREF(remote);
  return failed;
}

static const char* const start_slots[] = {"name",
                                          "context",
                                          "kind",
                                          "attributes",
                                          "links",
                                          "start_time",
                                          "record_exception",
                                          "set_status_on_exception",
                                          "end_on_exit"};

enum { NAME, CONTEXT, KIND, ATTRIBUTES, LINKS, START_TIME, ARGUMENTS };

/* Calls a sampler in Python. Sets flags, recording and the trace state; *attributes is
   replaced by an owned reference. */
static int ask_sampler(const Recorder* recorder, Span* span, PyObject* const* arguments,
                       PyObject** attributes) {
  PyObject* trace_id = int_of_halves(span->trace_high, span->trace_low);
  PyObject* no_links = PyTuple_New(0);
  PyObject* kind = arguments[KIND] == NULL ? kinds[0] : arguments[KIND];
  PyObject* context = arguments[CONTEXT] == NULL ? Py_None : arguments[CONTEXT];
  PyObject* links =
      arguments[LINKS] == NULL || PyObject_Not(arguments[LINKS]) ? no_links : arguments[LINKS];
  PyObject *result = NULL, *decision = NULL, *recording = NULL, *sampled = NULL, *state = NULL;
  int failed = -1;
  if (trace_id != NULL && no_links != NULL) {
    result = PyObject_CallMethodObjArgs(
        recorder->sampler, str_should_sample, context, trace_id, arguments[NAME], kind,
        arguments[ATTRIBUTES] == NULL ? Py_None : arguments[ATTRIBUTES], links, NULL);
  }
  if (result != NULL && (decision = PyObject_GetAttr(result, str_decision)) != NULL &&
      (recording = PyObject_CallMethodNoArgs(decision, str_is_recording)) != NULL &&
      (sampled = PyObject_CallMethodNoArgs(decision, str_is_sampled)) != NULL &&
      (state = PyObject_GetAttr(result, str_trace_state)) != NULL) {
    span->recording = PyObject_IsTrue(recording) == 1;
    span->flags = PyObject_IsTrue(sampled) == 1 ? FLAG_SAMPLED : 0;
    if (state != Py_None && PyObject_Size(state) > 0) {
      span->trace_state = Py_NewRef(state);
    }
    *attributes = PyObject_GetAttr(result, str_attributes);
    failed = *attributes == NULL || PyErr_Occurred() ? -1 : 0;
  }
  Py_XDECREF(trace_id);
  Py_XDECREF(no_links);
  Py_XDECREF(result);
  Py_XDECREF(decision);
  Py_XDECREF(recording);
  Py_XDECREF(sampled);
  Py_XDECREF(state);
  return failed;
}

static PyObject* start_span(Tracer* tracer, PyObject* const* arguments, bool record_exception,
                            bool set_status_on_exception) {
  const Recorder* recorder = tracer->recorder;
  PyObject* parent;
  if (current_span(arguments[CONTEXT], &parent) < 0) {
    return NULL;
  }
  Span* span = PyObject_New(Span, span_type);
  if (span == NULL) {
    Py_XDECREF(parent);
    return NULL;
  }
  memset((char*)span + offsetof(Span, tracer), 0, sizeof(Span) - offsetof(Span, tracer));
  span->tracer = (Tracer*)Py_NewRef((PyObject*)tracer);
  span->name = Py_NewRef(arguments[NAME]);
  span->record_exception = record_exception;
  span->set_status_on_exception = set_status_on_exception;
  PyObject* sampled_attributes = NULL;
  if (parent != NULL) {
    if (Py_IS_TYPE(parent, span_type)) {
      Span* of = (Span*)parent;
      span->trace_high = of->trace_high;
      span->trace_low = of->trace_low;
      span->parent_id = of->span_id;
      span->parent_flags = of->flags;
      span->has_parent = true;
      span->parent_trace_state = Py_XNewRef(of->trace_state);
    } else if (inherit(span, parent) < 0) {
      goto failed;
    }
    Py_CLEAR(parent);
  }
  span->span_id = random_id();
  uint8_t randomness = random_flag;
  if (span->has_parent) {
    randomness &= span->parent_flags;
  } else {
    span->trace_high = random_id();
    span->trace_low = random_id();
  }
  PyObject* attributes = arguments[ATTRIBUTES];
  if (recorder->root == ASK_SAMPLER) {
    if (ask_sampler(recorder, span, arguments, &sampled_attributes) < 0) {
      goto failed;
    }
    attributes = sampled_attributes;
  } else {
    span->trace_state = Py_XNewRef(span->parent_trace_state);
    bool sampled = recorder->parent_based && span->has_parent
                       ? span->parent_flags & FLAG_SAMPLED
                       : recorder->root == ROOT_ON || (recorder->root == ROOT_RATIO &&
                                                       span->trace_low < recorder->ratio_bound);
    span->recording = sampled;
    span->flags = sampled ? FLAG_SAMPLED : 0;
  }
  span->flags |= randomness;
  if (!span->recording) {
    Py_XDECREF(sampled_attributes);
    return (PyObject*)span;
  }
  PyObject* kind = arguments[KIND];
  span->kind = kind == NULL ? 1 : 0;
  for (uint8_t at = 0; kind != NULL && at < KINDS; at++) {
    if (kinds[at] == kind) {
      span->kind = at + 1;
    }
  }
  if (attributes != NULL && attributes != Py_None) {
    int any = PyObject_IsTrue(attributes);
    if (any < 0 || (any && set_all(span, attributes) < 0)) {
      goto failed;
    }
  }
  if (arguments[LINKS] != NULL && arguments[LINKS] != Py_None) {
    PyObject* links = PySequence_Fast(arguments[LINKS], "links must be a sequence");
    if (links == NULL) {
      goto failed;
    }
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(links); at++) {
      if (append_link(span, PyObject_CallFunction(
                                rare_own_link, "Onn", PySequence_Fast_GET_ITEM(links, at),
                                recorder->max_link_attributes, recorder->max_length)) < 0) {
        Py_DECREF(links);
        goto failed;
      }
    }
    Py_DECREF(links);
  }
  PyObject* start_time = arguments[START_TIME];
  span->start_nanos =
      start_time == NULL || start_time == Py_None ? now_nanos() : nanos_of(start_time);
  Py_XDECREF(sampled_attributes);
  return (PyObject*)span;
failed:
  Py_XDECREF(parent);
  Py_XDECREF(sampled_attributes);
  Py_DECREF(span);
  return NULL;
}

static int truth(PyObject* object, bool* into) {
  if (object != NULL) {
    int value = PyObject_IsTrue(object);
    if (value < 0) {
      return -1;
    }
    *into = value;
  }
  return 0;
}

static PyObject* tracer_start_span(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                   PyObject* names) {
  PyObject* bound[ARGUMENTS + 2] = {0};
  bool record = true, set = true;
  if (bind("start_span", start_slots, ARGUMENTS + 2, 1, args, count, names, bound) < 0 ||
      truth(bound[ARGUMENTS], &record) < 0 || truth(bound[ARGUMENTS + 1], &set) < 0) {
    return NULL;
  }
  return start_span((Tracer*)object, bound, record, set);
}

static PyObject* new_current(Tracer* tracer, PyObject* const* arguments, bool record, bool set,
                             bool end_on_exit) {
  Current* self = PyObject_New(Current, current_type);
  if (self == NULL) {
    return NULL;
  }
  self->tracer = (Tracer*)Py_NewRef((PyObject*)tracer);
  for (int at = 0; at < ARGUMENTS; at++) {
    self->arguments[at] = Py_XNewRef(arguments[at]);
  }
  self->record_exception = record;
  self->set_status_on_exception = set;
  self->end_on_exit = end_on_exit;
  self->span = self->token = NULL;
  return (PyObject*)self;
}

static PyObject* tracer_start_as_current_span(PyObject* object, PyObject* const* args,
                                              Py_ssize_t count, PyObject* names) {
  PyObject* bound[ARGUMENTS + 3] = {0};
  bool record = true, set = true, end_on_exit = true;
  if (bind("start_as_current_span", start_slots, ARGUMENTS + 3, 1, args, count, names, bound) < 0 ||
      truth(bound[ARGUMENTS], &record) < 0 || truth(bound[ARGUMENTS + 1], &set) < 0 ||
      truth(bound[ARGUMENTS + 2], &end_on_exit) < 0) {
    return NULL;
  }
  return new_current((Tracer*)object, bound, record, set, end_on_exit);
}

static PyObject* tracer_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject *recorder, *scope;
  if (!PyArg_ParseTuple(args, "O!O:Tracer", recorder_type, &recorder, &scope)) {
    return NULL;
  }
  Tracer* self = (Tracer*)type->tp_alloc(type, 0);
  if (self != NULL) {
    self->recorder = (Recorder*)Py_NewRef(recorder);
    self->scope = Py_NewRef(scope);
  }
  return (PyObject*)self;
}

static void tracer_dealloc(PyObject* object) {
  Tracer* self = (Tracer*)object;
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(self->recorder);
  Py_XDECREF(self->scope);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyMethodDef tracer_methods[] = {
    {"start_span", (PyCFunction)(void (*)(void))tracer_start_span, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"start_as_current_span", (PyCFunction)(void (*)(void))tracer_start_as_current_span,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL},
};

static PyType_Slot tracer_slots[] = {
    {Py_tp_doc, "Tracer(recorder, scope)"},
    {Py_tp_new, tracer_new},
    {Py_tp_dealloc, tracer_dealloc},
    {Py_tp_methods, tracer_methods},
    {0, NULL},
};

/* ---- the current span ---- */

static int make_current(Current* self) {
  if (current_variable == NULL) {
    PyObject* context = PyObject_CallFunctionObjArgs(set_value, span_key, self->span, NULL);
    self->token = context == NULL ? NULL : PyObject_CallOneArg(attach, context);
    Py_XDECREF(context);
    return self->token == NULL ? -1 : 0;
  }
  PyObject* before;
  if (PyContextVar_Get(current_variable, NULL, &before) < 0) {
    return -1;
  }
  /* A dict whose methods refuse changes; it is not shared yet. */
  PyObject* context = PyObject_CallNoArgs(context_class);
  if (context != NULL &&
      (before == NULL || PyDict_GET_SIZE(before) == 0 || PyDict_Update(context, before) == 0) &&
      PyDict_SetItem(context, span_key, self->span) == 0) {
    self->token = PyContextVar_Set(current_variable, context);
  }
  Py_XDECREF(before);
  Py_XDECREF(context);
  return self->token == NULL ? -1 : 0;
}

/* The API's function logs errors; none may reach the application. */
static void make_previous(Current* self) {
  PyObject* token = self->token;
  self->token = NULL;
  if (token == NULL) {
    return;
  }
  if (current_variable == NULL || PyContextVar_Reset(current_variable, token) < 0) {
    PyErr_Clear();
    PyObject* done = PyObject_CallOneArg(detach, token);
    if (done == NULL) {
      PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(done);
  }
  Py_DECREF(token);
}

static PyObject* current_enter(PyObject* object, PyObject* none) {
  Current* self = (Current*)object;
  if (self->span != NULL) {
    PyErr_SetString(PyExc_RuntimeError, "this span was entered before; start another one");
    return NULL;
  }
  self->span = start_span(self->tracer, self->arguments, self->record_exception,
                          self->set_status_on_exception);
  if (self->span == NULL || make_current(self) < 0) {
    return NULL;
  }
  return Py_NewRef(self->span);
}

static PyObject* current_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  Current* self = (Current*)object;
  if (self->span == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "this span was not entered");
    return NULL;
  }
  make_previous(self);
  Span* span = (Span*)self->span;
  /* GeneratorExit, SystemExit and the like are not errors of the operation. */
  if (count == 3 && args[1] != Py_None && span->recording &&
      PyObject_TypeCheck(args[1], (PyTypeObject*)PyExc_Exception) &&
      record_error(span, args[1], self->record_exception, self->set_status_on_exception, false) <
          0) {
    return NULL;
  }
  if (self->end_on_exit && end(span, NULL) < 0) {
    return NULL;
  }
  Py_RETURN_FALSE;
}

/* Used as a decorator: creates a span for each call. */
static PyObject* current_call(PyObject* object, PyObject* args, PyObject* keywords) {
  PyObject* function;
  if (!PyArg_ParseTuple(args, "O", &function)) {
    return NULL;
  }
  return PyObject_CallFunctionObjArgs(rare_decorate, object, function, NULL);
}

static PyObject* current_again(PyObject* object, PyObject* none) {
  Current* self = (Current*)object;
  return new_current(self->tracer, self->arguments, self->record_exception,
                     self->set_status_on_exception, self->end_on_exit);
}

static void current_dealloc(PyObject* object) {
  Current* self = (Current*)object;
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(self->tracer);
  for (int at = 0; at < ARGUMENTS; at++) {
    Py_XDECREF(self->arguments[at]);
  }
  Py_XDECREF(self->span);
  Py_XDECREF(self->token);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyMethodDef current_methods[] = {
    {"__enter__", current_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))current_exit, METH_FASTCALL, NULL},
    {"again", current_again, METH_NOARGS, "The same, not entered yet."},
    {NULL},
};

static PyType_Slot current_slots[] = {
    {Py_tp_doc, "Starts a span and makes it the current one, within a with or around a function."},
    {Py_tp_dealloc, current_dealloc},
    {Py_tp_methods, current_methods},
    {Py_tp_call, current_call},
    {0, NULL},
};

/* ---- recorders ---- */

static PyObject* recorder_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"provider",
                          "elsewhere",
                          "sampler",
                          "root",
                          "parent_based",
                          "ratio_bound",
                          "max_attributes",
                          "max_events",
                          "max_links",
                          "max_event_attributes",
                          "max_link_attributes",
                          "max_length",
                          "max_span_length",
                          NULL};
  PyObject *provider, *elsewhere, *sampler;
  int root, parent_based;
  unsigned long long bound;
  Py_ssize_t limits[7];
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOipKnnnnnnn:Recorder", names, &provider,
                                   &elsewhere, &sampler, &root, &parent_based, &bound, &limits[0],
                                   &limits[1], &limits[2], &limits[3], &limits[4], &limits[5],
                                   &limits[6])) {
    return NULL;
  }
  Recorder* self = (Recorder*)type->tp_alloc(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->writer = Py_NewRef(Py_None);
  self->provider = Py_NewRef(provider);
  self->elsewhere = Py_NewRef(elsewhere);
  self->sampler = Py_NewRef(sampler);
  self->root = (RootDecision)root;
  self->parent_based = parent_based;
  self->ratio_bound = bound;
  self->max_attributes = limits[0];
  self->max_events = limits[1];
  self->max_links = limits[2];
  self->max_event_attributes = limits[3];
  self->max_link_attributes = limits[4];
  self->max_length = limits[5];
  self->max_span_length = limits[6];
  return (PyObject*)self;
}

static int recorder_traverse(PyObject* object, visitproc visit, void* arg) {
  Recorder* self = (Recorder*)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->writer);
  Py_VISIT(self->provider);
  Py_VISIT(self->elsewhere);
  Py_VISIT(self->sampler);
  return 0;
}

static int recorder_clear(PyObject* object) {
  Recorder* self = (Recorder*)object;
  Py_CLEAR(self->provider);
  Py_CLEAR(self->elsewhere);
  Py_CLEAR(self->sampler);
  return 0;
}

static void recorder_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  recorder_clear(object);
  Py_CLEAR(((Recorder*)object)->writer);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyMemberDef recorder_members[] = {
    {"writer", T_OBJECT, offsetof(Recorder, writer), 0, "A Writer, or None."},
    {NULL},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_doc, "What the tracers of a provider share."},
    {Py_tp_new, recorder_new},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_traverse, recorder_traverse},
    {Py_tp_clear, recorder_clear},
    {Py_tp_members, recorder_members},
    {0, NULL},
};

/* ---- set-up ---- */

static PyType_Spec recorder_spec = {"trace_etl_exporter._ring.Recorder", sizeof(Recorder), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, recorder_slots};
static PyType_Spec tracer_spec = {"trace_etl_exporter._ring.Tracer", sizeof(Tracer), 0,
                                  Py_TPFLAGS_DEFAULT, tracer_slots};
static PyType_Spec span_spec = {"trace_etl_exporter._ring.Span", sizeof(Span), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, span_slots};
static PyType_Spec current_spec = {"trace_etl_exporter._ring.Current", sizeof(Current), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   current_slots};

static int add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type) {
  *type = (PyTypeObject*)PyType_FromSpec(spec);
  return *type == NULL ? -1 : PyModule_AddObjectRef(module, name, (PyObject*)*type);
}

int trace_setup(PyObject* module) {
  static const struct {
    PyObject** name;
    const char* text;
  } names[] = {
      {&str_is_valid, "is_valid"},
      {&str_span_id, "span_id"},
      {&str_trace_id, "trace_id"},
      {&str_trace_flags, "trace_flags"},
      {&str_trace_state, "trace_state"},
      {&str_is_remote, "is_remote"},
      {&str_get_span_context, "get_span_context"},
      {&str_should_sample, "should_sample"},
      {&str_decision, "decision"},
      {&str_attributes, "attributes"},
      {&str_is_recording, "is_recording"},
      {&str_is_sampled, "is_sampled"},
      {&str_status_code, "status_code"},
      {&str_description, "description"},
      {&str_resource, "resource"},
  };
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    if ((*names[at].name = PyUnicode_InternFromString(names[at].text)) == NULL) {
      return -1;
    }
  }
  static const struct {
    PyObject** object;
    const char* name;
  } imports[] = {
      {&span_class, "Span"},         {&span_context_class, "SpanContext"},
      {&status_class, "Status"},     {&context_class, "Context"},
      {&empty_state, "EMPTY_STATE"}, {&span_key, "SPAN_KEY"},
      {&attach, "attach"},           {&detach, "detach"},
      {&get_current, "get_current"}, {&set_value, "set_value"},
      {&rare_clean, "clean"},        {&rare_link, "new_link"},
      {&rare_own_link, "own_link"},  {&rare_exception, "exception_attributes"},
      {&rare_warn, "warn"},          {&rare_decorate, "decorate"},
      {&rare_events, "events"},      {&rare_description, "description"},
  };
  PyObject* rare = PyImport_ImportModule("trace_etl_exporter._rare");
  for (size_t at = 0; rare != NULL && at < sizeof imports / sizeof *imports; at++) {
    if ((*imports[at].object = PyObject_GetAttrString(rare, imports[at].name)) == NULL) {
      return -1;
    }
  }
  if (rare == NULL) {
    return -1;
  }
  PyObject* variable = PyObject_GetAttrString(rare, "CURRENT_VARIABLE");
  PyObject* flags = PyObject_GetAttrString(rare, "TRACE_FLAGS");
  PyObject* all_kinds = PyObject_GetAttrString(rare, "KINDS");
  PyObject* codes = PyObject_GetAttrString(rare, "STATUS_CODES");
  PyObject* random = PyObject_GetAttrString(rare, "RANDOM_FLAG");
  if (variable == NULL || flags == NULL || all_kinds == NULL || codes == NULL || random == NULL) {
    return -1;
  }
  current_variable = variable == Py_None ? NULL : variable;
  random_flag = (uint8_t)PyLong_AsLong(random);
  for (int at = 0; at < 4; at++) {
    trace_flags[at] = Py_NewRef(PyTuple_GET_ITEM(flags, at));
  }
  for (int at = 0; at < KINDS; at++) {
    kinds[at] = Py_NewRef(PyTuple_GET_ITEM(all_kinds, at));
  }
  for (int at = 0; at < 3; at++) {
    status_codes[at] = Py_NewRef(PyTuple_GET_ITEM(codes, at));
  }
  Py_DECREF(rare);
  Py_DECREF(flags);
  Py_DECREF(all_kinds);
  Py_DECREF(codes);
  Py_DECREF(random);
  return add_type(module, "Recorder", &recorder_spec, &recorder_type) < 0 ||
                 add_type(module, "Tracer", &tracer_spec, &tracer_type) < 0 ||
                 add_type(module, "Span", &span_spec, &span_type) < 0 ||
                 add_type(module, "Current", &current_spec, &current_type) < 0
             ? -1
             : 0;
}
