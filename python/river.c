#include "binding.h"

#include <math.h>
#include <string.h>

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"path", "text", "name", NULL};
  PyObject *path = NULL;
  const char *text = NULL, *name = "river";
  Py_ssize_t size = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O&z#s", names, PyUnicode_FSConverter, &path, &text, &size,
                                   &name)) {
    return NULL;
  }
  hw_py_module *module = hw_py_state(type);
  if (!path == !text) {
    Py_XDECREF(path);
    PyErr_SetString(PyExc_TypeError, "River takes a path or a text, one of the two");
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  hw_py_river *self = (hw_py_river *)(void *)allocate(type, 0);
  if (!self) {
    Py_XDECREF(path);
    return NULL;
  }
  hw_river_init(&self->river);
  hw_py_notes notes = {0};
  hw_error error = {""};
  const char *file = path ? PyBytes_AsString(path) : NULL;
  hw_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = file ? hw_river_load(file, hw_py_notes_take, &notes, &self->river, &error)
                : hw_river_parse(name, text, (size_t)size, hw_py_notes_take, &notes, &self->river, &error);
  Py_END_ALLOW_THREADS;
  Py_XDECREF(path);
  self->warnings = hw_py_notes_list(&notes);
  if (status != HW_OK) {
    hw_py_raise(module, status, error.text);
  }
  if (status != HW_OK || !self->warnings) {
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  return (PyObject *)self;
}

static void destroy(PyObject *self) {
  hw_py_river *river = (hw_py_river *)(void *)self;
  PyTypeObject *type = Py_TYPE(self);
  hw_river_free(&river->river);
  Py_XDECREF(river->warnings);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static const hw_river *of(PyObject *self) {
  return &((hw_py_river *)(void *)self)->river;
}

static PyObject *get_name(PyObject *self, void *closure) {
  (void)closure;
  return PyUnicode_FromString(of(self)->name);
}

static PyObject *get_calendar(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(of(self)->search_is_calendar);
}

static PyObject *get_warnings(PyObject *self, void *closure) {
  (void)closure;
  return PySequence_List(((hw_py_river *)(void *)self)->warnings);
}

/* A list made of one item at a time. */
typedef PyObject *(*item)(const hw_river *river, size_t index);

static PyObject *list_of(const hw_river *river, size_t count, item make) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *one = make(river, i);
    if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *make_sensor(const hw_river *river, size_t i) {
  const hw_sensor *s = &river->sensors[i];
  return Py_BuildValue("{s:s,s:d,s:d,s:d,s:d}", "id", s->id, "location_m", s->location_m, "noise_relative",
                       s->noise_relative, "noise_absolute_g_m3", s->noise_absolute_g_m3, "detection_limit_g_m3",
                       s->detection_limit_g_m3);
}

static PyObject *make_candidate(const hw_river *river, size_t i) {
  const hw_candidate *c = &river->candidates[i];
  return Py_BuildValue("{s:s,s:s,s:d}", "id", c->id, "name", c->name, "location_m", c->location_m);
}

static PyObject *make_intake(const hw_river *river, size_t i) {
  const hw_intake *n = &river->intakes[i];
  return Py_BuildValue("{s:s,s:s,s:d,s:d}", "id", n->id, "name", n->name, "location_m", n->location_m, "alarm_g_m3",
                       n->alarm_g_m3);
}

static PyObject *get_sensors(PyObject *self, void *closure) {
  (void)closure;
  return list_of(of(self), of(self)->sensor_count, make_sensor);
}

static PyObject *get_candidates(PyObject *self, void *closure) {
  (void)closure;
  return list_of(of(self), of(self)->candidate_count, make_candidate);
}

static PyObject *get_intakes(PyObject *self, void *closure) {
  (void)closure;
  return list_of(of(self), of(self)->intake_count, make_intake);
}

static PyObject *represent(PyObject *self) {
  return PyUnicode_FromFormat("<River %s: %zu sensors>", of(self)->name[0] ? of(self)->name : "without a name",
                              of(self)->sensor_count);
}

static PyGetSetDef attributes[] = {
    {"name", get_name, NULL, "Of the river.", NULL},
    {"calendar", get_calendar, NULL, "Whether times are seconds since 1970 (UTC).", NULL},
    {"sensors", get_sensors, NULL, "A dict a sensor.", NULL},
    {"candidates", get_candidates, NULL, "A dict a facility that may be the source.", NULL},
    {"intakes", get_intakes, NULL, "A dict an intake downstream.", NULL},
    {"warnings", get_warnings, NULL, "What is odd about the river file but usable.", NULL},
    {0}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_repr, (void *)represent},
                              {Py_tp_doc, "River(path) or River(text=YAML): a river, its sensors and where to search."},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec hw_py_river_spec = {
    .name = "headwater.River", .basicsize = sizeof(hw_py_river), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
