/* The ring's writer: docs/ring.md is the format, byte by byte. */
#ifndef TRACE_ETL_WRITER_H
#define TRACE_ETL_WRITER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* Where a record is put together before its place is claimed: its length must be known by then. */
typedef struct {
  uint8_t* at;
  uint8_t* end;
  bool overflowed; /* the record is larger than one may be; what was put since is lost */
} Buffer;

typedef struct {
  PyObject* text; /* owned; NULL: the slot is free */
  Py_hash_t hash;
  uint32_t number;
} Entry;

/* One thread at a time is in here, by the GIL; an encoding that lets others run owns its buffer. */
typedef struct {
  PyObject_HEAD uint8_t* map; /* NULL: closed, or another process's */
  size_t map_bytes;
  int fd; /* kept open: closing any descriptor of the file would drop the lock on it */
  int wake_fd;
  char* wake_path;
  uint8_t* dictionary;
  uint8_t* ring;
  uint64_t dictionary_bytes;
  uint64_t ring_bytes;
  size_t max_record;
  uint64_t known_head;
  uint64_t dictionary_end;
  uint32_t dictionary_count;
  Entry* entries;
  size_t entries_mask;
  Py_hash_t*
      seen; /* hashes of values that passed; a value that comes again goes into the dictionary */
  uint8_t* spare; /* a buffer of max_record bytes, or NULL while it is in use */
  PyObject* last_trace_id;
  uint64_t last_trace_high;
  uint64_t last_trace_low;
  unsigned generation;
  int64_t next_link_check_nanos;
  /* What a signal's handler raised within Python code that an encoding ran: raised once that is
     done. Type, value and traceback. */
  PyObject* interrupt[3];
} Writer;

/* Not a tuple: there may be many, and none outlives its span unless it is asked for. */
typedef struct {
  PyObject* name;       /* owned */
  PyObject* attributes; /* a dict, owned; NULL: none */
  int64_t nanos;        /* since 1970 */
} Event;

/* What the two halves of a span need that is the same for SDK spans and for ours. */
typedef struct {
  uint64_t trace_high, trace_low, span_id, parent_id;
  int64_t start_nanos, end_nanos;
  uint8_t kind, status;
  PyObject* name;
  PyObject* message;     /* NULL: none */
  PyObject* trace_state; /* a mapping, NULL: none */
  PyObject* attributes;  /* a dict, NULL: none */
  const Event* events;
  Py_ssize_t event_count;
} SpanFields;

extern PyTypeObject* writer_type;
extern unsigned fork_generation;

int writer_setup(PyObject* module);
int trace_setup(PyObject* module);

/* True: written, or dropped and counted. False: this is no ring of this process (any more). An
   error is set only if it is no Exception: KeyboardInterrupt, SystemExit. The caller keeps all that
   the span points to alive and as it is. */
bool writer_put(Writer* self, const SpanFields* span);

/* Releases an array of events and what they own. */
void events_free(Event* events, Py_ssize_t count);

/* The two halves of a trace ID. 0, or -1 with an error set. */
int halves_of(PyObject* trace_id, uint64_t* high, uint64_t* low);

/* What an int or another number says, cut to what 64 bits hold; 0 where it is no number. */
int64_t nanos_of(PyObject* number);

int64_t now_nanos(void);

#endif
