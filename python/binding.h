/* headwater for Python, in CPython's limited API of 3.11: one module file serves every later Python.
 *
 * The module `_headwater` has what must be C: rivers, runs, reading files, and blocks of numbers that NumPy looks into
 * without copying. What is convenience (frames, plots, HTML) is Python, in headwater/__init__.py. */
#ifndef HW_PYTHON_BINDING_H
#define HW_PYTHON_BINDING_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "headwater/headwater.h"

typedef struct {
  PyTypeObject *river, *run, *table;
  PyObject *error, *input_error, *machine_error; /* exceptions */
} hw_py_module;

/* The state of the module a type belongs to. */
hw_py_module *hw_py_state(PyTypeObject *type);

typedef struct {
  PyObject ob_base;
  hw_river river;
  PyObject *warnings; /* a list of sentences */
} hw_py_river;

/* Rows of doubles, readable through the buffer protocol. */
typedef struct {
  PyObject ob_base;
  double *values;
  Py_ssize_t shape[2], strides[2];
  PyObject *columns; /* a tuple of names */
} hw_py_table;

extern PyType_Spec hw_py_river_spec, hw_py_run_spec, hw_py_table_spec;

/* A table that takes the values over, also on failure. columns: names, separated by blanks. */
PyObject *hw_py_table_new(hw_py_module *module, double *values, size_t rows, const char *columns);

/* Raises what a status stands for, with the sentence (NULL: the status's own); gives NULL. */
PyObject *hw_py_raise(hw_py_module *module, hw_status status, const char *sentence);

/* Sentences that come while the interpreter's lock is not held. */
typedef struct {
  char **sentences;
  size_t count;
} hw_py_notes;

void hw_py_notes_take(void *context, const char *sentence);
/* As a list; releases them either way. */
PyObject *hw_py_notes_list(hw_py_notes *notes);

PyObject *hw_py_read(PyObject *module, PyObject *arguments, PyObject *keywords);

#endif
