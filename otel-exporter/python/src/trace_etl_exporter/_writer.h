/* The ring's writer. docs/ring.md describes the format byte by byte. */
#ifndef TRACE_ETL_WRITER_H
#define TRACE_ETL_WRITER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* The buffer of a record before its place is claimed, because the claim needs the length. */
typedef struct {
  uint8_t* at;
  uint8_t* end;
  bool overflowed; /* the record exceeds the limit; later bytes are discarded */
} Buffer;

typedef struct {
  PyObject* text; /* owned; NULL: the slot is free */
  Py_hash_t hash;
  uint32_t number;
} Entry;

/* Guarded by the GIL; an encoding that lets other threads run owns its buffer. */
typedef struct {
  PyObject_HEAD uint8_t* map; /* NULL: closed, or another process's */
  size_t map_bytes;
  int fd; /* kept open: closing any descriptor of the file releases the lock */
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
      seen; /* hashes of written values; a repeated value goes into the dictionary */
  uint8_t* spare; /* a buffer of max_record bytes, or NULL while it is in use */
  PyObject* last_trace_id;
  uint64_t last_trace_high;
  uint64_t last_trace_low;
  unsigned generation;
  int64_t next_link_check_nanos;
  /* The exception of a signal handler during an encoding, raised after it: type, value and
     traceback. */
  PyObject* interrupt[3];
} Writer;

/* Not a tuple: there may be many, and few are needed after their span. */
typedef struct {
  PyObject* name;       /* owned */
  PyObject* attributes; /* a dict, owned; NULL: none */
  int64_t nanos;        /* since 1970 */
} Event;

/* The kind of spans whose links are written, as in OTLP. */
enum { CONSUMER = 5 };

/* The parts that SDK spans and spans of this package have in common. */
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
  PyObject* links; /* a list or tuple, NULL: none, or not a consumer */
} SpanFields;

extern PyTypeObject* writer_type;
extern unsigned fork_generation;

int writer_setup(PyObject* module);
int trace_setup(PyObject* module);

/* Returns true if the span was written, or dropped and counted; false if the ring is closed or of
   another process. Sets an error only for KeyboardInterrupt, SystemExit and the like. The caller
   keeps all objects of the span alive and unchanged. */
bool writer_put(Writer* self, const SpanFields* span);

/* Releases an array of events and what they own. */
void events_free(Event* events, Py_ssize_t count);

/* Reads the two halves of a trace ID. Returns 0, or -1 with an error set. */
int halves_of(PyObject* trace_id, uint64_t* high, uint64_t* low);

/* Returns a number, limited to 64 bits; 0 if the object is not a number. */
int64_t nanos_of(PyObject* number);

int64_t now_nanos(void);

#endif
