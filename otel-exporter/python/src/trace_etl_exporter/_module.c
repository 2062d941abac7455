#include "_writer.h"

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "trace_etl_exporter._ring",
    .m_doc = "Writes spans into a ring that is shared with the agent.",
    .m_size = -1,
};

/* Declares no free threading, so an interpreter without a GIL enables it for this module. */
PyMODINIT_FUNC PyInit__ring(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL || writer_setup(module) < 0 || trace_setup(module) < 0) {
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
