/* Numbers handed to Python where they lie: numpy.asarray(table) copies nothing. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

PyObject *hw_py_table_new(hw_py_module *module, double *values, size_t rows, const char *columns) {
  PyObject *text = PyUnicode_FromString(columns);
  PyObject *list = text ? PyUnicode_Split(text, NULL, -1) : NULL;
  PyObject *names = list ? PyList_AsTuple(list) : NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(module->table, Py_tp_alloc);
  hw_py_table *table = names ? (hw_py_table *)(void *)allocate(module->table, 0) : NULL;
  Py_XDECREF(text);
  Py_XDECREF(list);
  if (!table) {
    Py_XDECREF(names);
    free(values);
    return NULL;
  }
  table->columns = names;
  table->values = values;
  table->shape[0] = (Py_ssize_t)rows;
  table->shape[1] = PyTuple_Size(names);
  table->strides[1] = sizeof(double);
  table->strides[0] = table->shape[1] * table->strides[1];
  return (PyObject *)table;
}

static void destroy(PyObject *self) {
  hw_py_table *table = (hw_py_table *)(void *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(table->columns);
  free(table->values);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  hw_py_table *table = (hw_py_table *)(void *)self;
  if (flags & PyBUF_WRITABLE & ~PyBUF_FORMAT) {
    PyErr_SetString(PyExc_BufferError, "a table is read-only");
    return -1;
  }
  static char format[] = "d";
  *view = (Py_buffer){.buf = table->values,
                      .obj = Py_NewRef(self),
                      .len = table->shape[0] * table->strides[0],
                      .readonly = 1,
                      .itemsize = sizeof(double),
                      .format = flags & PyBUF_FORMAT ? format : NULL,
                      .ndim = 2,
                      .shape = table->shape,
                      .strides = table->strides};
  return 0;
}

static Py_ssize_t length(PyObject *self) {
  return ((hw_py_table *)(void *)self)->shape[0];
}

static PyObject *get_columns(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef(((hw_py_table *)(void *)self)->columns);
}

static PyGetSetDef attributes[] = {{"columns", get_columns, NULL, "Names of the columns.", NULL}, {0}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)destroy},
                              {Py_tp_doc, "Rows of numbers; numpy.asarray(table) does not copy them."},
                              {Py_bf_getbuffer, (void *)get_buffer},
                              {Py_sq_length, (void *)length},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec hw_py_table_spec = {.name = "headwater.Table",
                                .basicsize = sizeof(hw_py_table),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = slots};
