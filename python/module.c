#include "binding.h"

#include <stdlib.h>
#include <string.h>

hw_py_module *hw_py_state(PyTypeObject *type) {
  return PyType_GetModuleState(type);
}

PyObject *hw_py_raise(hw_py_module *module, hw_status status, const char *sentence) {
  if (status == HW_ENOMEM) {
    return PyErr_NoMemory();
  }
  PyErr_SetString(status == HW_EIO || status == HW_ENONFINITE ? module->machine_error : module->input_error,
                  sentence ? sentence : hw_status_text(status));
  return NULL;
}

void hw_py_notes_take(void *context, const char *sentence) {
  hw_py_notes *notes = context;
  char **larger = realloc(notes->sentences, (notes->count + 1) * sizeof *larger);
  if (larger) {
    notes->sentences = larger;
    larger[notes->count] = strdup(sentence);
    notes->count += larger[notes->count] != NULL;
  }
}

PyObject *hw_py_notes_list(hw_py_notes *notes) {
  PyObject *list = PyList_New((Py_ssize_t)notes->count);
  for (size_t i = 0; i < notes->count; i++) {
    if (list) {
      PyObject *text = PyUnicode_DecodeUTF8(notes->sentences[i], (Py_ssize_t)strlen(notes->sentences[i]), "replace");
      if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0) {
        Py_CLEAR(list);
      }
    }
    free(notes->sentences[i]);
  }
  free(notes->sentences);
  *notes = (hw_py_notes){0};
  return list;
}

static PyObject *methods(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  size_t count;
  const hw_method *const *table = hw_methods(&count);
  PyObject *names = PyDict_New();
  for (size_t i = 0; names && i < count; i++) {
    PyObject *summary = PyUnicode_FromString(table[i]->summary);
    if (!summary || PyDict_SetItemString(names, table[i]->name, summary) < 0) {
      Py_CLEAR(names);
    }
    Py_XDECREF(summary);
  }
  return names;
}

static PyMethodDef functions[] = {{"methods", methods, METH_NOARGS, "The methods' names, and one line on each."},
                                  {"read", (PyCFunction)(void (*)(void))hw_py_read, METH_VARARGS | METH_KEYWORDS,
                                   "read(path, river, columns=None, timezone=None) -> (table, counts, origin, notes)"},
                                  {NULL, NULL, 0, NULL}};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (!type || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
    Py_XDECREF(type);
    return NULL;
  }
  return (PyTypeObject *)type;
}

/* An exception that is also one of Python's own. */
static PyObject *add_exception(PyObject *module, const char *name, PyObject *base, PyObject *also) {
  char whole[80];
  snprintf(whole, sizeof whole, "headwater.%s", name);
  PyObject *bases = also ? PyTuple_Pack(2, base, also) : Py_NewRef(base);
  PyObject *exception = bases ? PyErr_NewException(whole, bases, NULL) : NULL;
  Py_XDECREF(bases);
  if (exception && PyModule_AddObjectRef(module, name, exception) < 0) {
    Py_CLEAR(exception);
  }
  return exception;
}

static int fill(PyObject *module) {
  hw_py_module *state = PyModule_GetState(module);
  state->error = add_exception(module, "Error", PyExc_Exception, NULL);
  if (!state->error) {
    return -1;
  }
  state->input_error = add_exception(module, "InputError", state->error, PyExc_ValueError);
  state->machine_error = add_exception(module, "MachineError", state->error, PyExc_OSError);
  state->river = add_type(module, &hw_py_river_spec);
  state->run = add_type(module, &hw_py_run_spec);
  state->table = add_type(module, &hw_py_table_spec);
  return state->input_error && state->machine_error && state->river && state->run && state->table
             ? PyModule_AddStringConstant(module, "__version__", HW_VERSION)
             : -1;
}

static int clear(PyObject *module) {
  hw_py_module *state = PyModule_GetState(module);
  Py_CLEAR(state->river);
  Py_CLEAR(state->run);
  Py_CLEAR(state->table);
  Py_CLEAR(state->error);
  Py_CLEAR(state->input_error);
  Py_CLEAR(state->machine_error);
  return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_headwater",
                                        .m_doc = "Where a river spill came from: the C side.",
                                        .m_size = sizeof(hw_py_module),
                                        .m_methods = functions,
                                        .m_slots = slots,
                                        .m_clear = clear};

PyMODINIT_FUNC PyInit__headwater(void);

PyMODINIT_FUNC PyInit__headwater(void) {
  return PyModuleDef_Init(&definition);
}
