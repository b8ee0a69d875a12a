/* One method at work. The interpreter's lock is let go while it computes; a lock of its own keeps threads that share a
 * run apart. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  PyObject ob_base;
  hw_py_river *river;
  const hw_method *method;
  hw_run *run;
  hw_options options;
  PyThread_type_lock lock;
  hw_reader_counts counts;
  bool calendar;
  double origin_unix_s;
  double seconds;
} hw_py_run;

static hw_py_run *of(PyObject *self) {
  return (hw_py_run *)(void *)self;
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int take_origin(hw_py_run *run, PyObject *origin) {
  run->calendar = run->river->river.search_is_calendar;
  if (origin && origin != Py_None) {
    run->calendar = true;
    run->origin_unix_s = PyFloat_AsDouble(origin);
  }
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"river", "method", "seed", "level", "particles", "threads", "origin", NULL};
  hw_py_module *module = hw_py_state(type);
  PyObject *river = NULL, *origin = NULL;
  const char *method = "posterior";
  unsigned long long seed = HW_DEFAULT_SEED;
  double level = HW_DEFAULT_LEVEL;
  Py_ssize_t particles = 0, threads = 0;
  if (!module || !PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|sKdnnO", names, module->river, &river, &method,
                                              &seed, &level, &particles, &threads, &origin)) {
    return NULL;
  }
  if (!(level > 0 && level < 1)) {
    char sentence[80];
    snprintf(sentence, sizeof sentence, "level %g, expected a share between 0 and 1", level);
    return hw_py_raise(module, HW_EDOMAIN, sentence);
  }
  hw_py_run *self = of(((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0));
  if (!self) {
    return NULL;
  }
  self->river = (hw_py_river *)(void *)Py_NewRef(river);
  self->method = hw_method_find(method);
  self->options = (hw_options){.seed = seed,
                               .level = level,
                               .particles = particles > 0 ? (size_t)particles : 0,
                               .threads = threads > 0 ? (size_t)threads : 0,
                               .per_sensor = true,
                               .steady = true};
  self->lock = PyThread_allocate_lock();
  const hw_problem problem = {.river = &self->river->river};
  const hw_status status = self->lock ? hw_run_create(self->method, &problem, &self->options, &self->run) : HW_ENOMEM;
  if (status != HW_OK || take_origin(self, origin) < 0) {
    if (status == HW_ENAME) {
      PyErr_Format(module->input_error, "no method '%.60s', expected one of those in headwater.methods()", method);
    } else if (status != HW_OK) {
      hw_py_raise(module, status, NULL);
    }
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  return (PyObject *)self;
}

static void destroy(PyObject *self) {
  hw_py_run *run = of(self);
  PyTypeObject *type = Py_TYPE(self);
  hw_run_free(run->run);
  if (run->lock) {
    PyThread_free_lock(run->lock);
  }
  Py_XDECREF((PyObject *)run->river);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static hw_py_module *module_of(PyObject *self) {
  return hw_py_state(Py_TYPE(self));
}

/* A column of numbers of any of these formats, seen through the buffer protocol. */
typedef struct {
  Py_buffer view;
  bool open;
} column;

static bool open_column(column *c, PyObject *object, const char *name, const char *formats, Py_ssize_t rows) {
  if (!object || object == Py_None) {
    return true;
  }
  if (PyObject_GetBuffer(object, &c->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    return false;
  }
  c->open = true;
  const char *format = c->view.format ? c->view.format : "B";
  format += *format == '@' || *format == '=' ? 1 : 0;
  const bool known = format[0] && !format[1] && strchr(formats, format[0]);
  if (c->view.ndim != 1 || !known || (rows >= 0 && c->view.shape[0] != rows)) {
    PyErr_Format(PyExc_ValueError,
                 "%s has format '%s' in %d dimensions, expected one of '%s' in one, as long as the others", name,
                 format, c->view.ndim, formats);
    return false;
  }
  return true;
}

static double at(const column *c, Py_ssize_t i) {
  if (!c->open) {
    return 0;
  }
  const char *p = (const char *)c->view.buf + i * c->view.strides[0];
  const char *format = c->view.format ? c->view.format : "B";
  format += *format == '@' || *format == '=' ? 1 : 0;
  union {
    double d;
    float f;
    long long q;
    int i;
    signed char b;
  } value = {0};
  memcpy(&value, p, (size_t)c->view.itemsize < sizeof value ? (size_t)c->view.itemsize : sizeof value);
  return *format == 'd'                     ? value.d
         : *format == 'f'                   ? (double)value.f
         : *format == 'l' || *format == 'q' ? (double)value.q
         : *format == 'i'                   ? (double)value.i
                                            : (double)value.b;
}

enum { TIME, SENSOR, VALUE, BELOW, ABOVE, COLUMN_COUNT };

/* Row after row into the run; how many went in is in *done. */
static hw_status feed(hw_py_run *run, const column c[COLUMN_COUNT], Py_ssize_t rows, Py_ssize_t *done) {
  const double begin_s = now_s();
  hw_status status = HW_OK;
  for (*done = 0; status == HW_OK && *done < rows; ++*done) {
    const double sensor = at(&c[SENSOR], *done), value = at(&c[VALUE], *done);
    if (isnan(value)) {
      run->counts.missing++;
      continue;
    }
    const hw_reading reading = {.sensor = sensor >= 0 && sensor < 1e9 ? (size_t)sensor : SIZE_MAX,
                                .time_s = at(&c[TIME], *done),
                                .concentration_g_m3 = value,
                                .below_limit = at(&c[BELOW], *done) != 0,
                                .above_limit = at(&c[ABOVE], *done) != 0};
    status = hw_run_observe(run->run, &reading);
    run->counts.readings += status == HW_OK;
    *done -= status != HW_OK;
  }
  run->seconds += now_s() - begin_s;
  return status;
}

static PyObject *observe(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"time_s", "sensor", "concentration_g_m3", "below_limit", "above_limit", NULL};
  static const char *const formats[] = {"df", "dlqi", "df", "?bBd", "?bBd"};
  PyObject *given[COLUMN_COUNT] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|OO", names, &given[TIME], &given[SENSOR], &given[VALUE],
                                   &given[BELOW], &given[ABOVE])) {
    return NULL;
  }
  hw_py_run *run = of(self);
  column c[COLUMN_COUNT] = {0};
  bool good = true;
  for (int i = 0; good && i < COLUMN_COUNT; i++) {
    good = open_column(&c[i], given[i], names[i], formats[i], i ? c[TIME].view.shape[0] : -1);
  }
  Py_ssize_t done = 0;
  hw_status status = HW_OK;
  if (good) {
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(run->lock, 1);
    status = feed(run, c, c[TIME].view.shape[0], &done);
    PyThread_release_lock(run->lock);
    Py_END_ALLOW_THREADS;
  }
  for (int i = 0; i < COLUMN_COUNT; i++) {
    if (c[i].open) {
      PyBuffer_Release(&c[i].view);
    }
  }
  if (!good) {
    return NULL;
  }
  if (status != HW_OK) {
    char sentence[200];
    snprintf(sentence, sizeof sentence, "reading %lld: %s", (long long)done, hw_status_text(status));
    return hw_py_raise(module_of(self), status, sentence);
  }
  return PyLong_FromSsize_t(done);
}

typedef hw_status (*writer)(const hw_result *result, char **out);

static hw_status write_json(const hw_result *result, char **out) {
  return hw_result_json(result, true, out);
}

static PyObject *write_estimate(PyObject *self, writer write) {
  hw_py_run *run = of(self);
  char *text = NULL;
  hw_status status;
  Py_BEGIN_ALLOW_THREADS;
  PyThread_acquire_lock(run->lock, 1);
  hw_estimate estimate;
  const double begin_s = now_s();
  status = hw_run_estimate(run->run, &estimate);
  run->seconds += now_s() - begin_s;
  if (status == HW_OK) {
    const hw_result result = {.river = &run->river->river,
                              .method = run->method->name,
                              .seed = run->options.seed,
                              .estimate = &estimate,
                              .counts = run->counts,
                              .calendar = run->calendar,
                              .origin_unix_s = run->origin_unix_s,
                              .seconds = run->seconds,
                              .reading_us_median = NAN,
                              .reading_us_p99 = NAN};
    status = write(&result, &text);
  }
  PyThread_release_lock(run->lock);
  Py_END_ALLOW_THREADS;
  if (status != HW_OK) {
    return hw_py_raise(module_of(self), status, NULL);
  }
  PyObject *string = PyUnicode_FromString(text);
  free(text);
  return string;
}

static PyObject *estimate_json(PyObject *self, PyObject *unused) {
  (void)unused;
  return write_estimate(self, write_json);
}

static PyObject *estimate_text(PyObject *self, PyObject *unused) {
  (void)unused;
  return write_estimate(self, hw_result_text);
}

enum { SAMPLE_COLUMNS = 7 };

static PyObject *samples(PyObject *self, PyObject *arguments) {
  hw_py_run *run = of(self);
  Py_ssize_t most = 10000;
  if (!PyArg_ParseTuple(arguments, "|n", &most) || most < 1) {
    return PyErr_Occurred() ? NULL
                            : (PyErr_SetString(PyExc_ValueError, "samples of less than one, expected more"), NULL);
  }
  hw_sample *drawn = malloc((size_t)most * sizeof *drawn);
  size_t count = 0;
  hw_status status = drawn ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(run->lock, 1);
    status = hw_run_samples(run->run, drawn, (size_t)most, &count);
    PyThread_release_lock(run->lock);
    Py_END_ALLOW_THREADS;
  }
  if (status != HW_OK) {
    free(drawn);
    return hw_py_raise(module_of(self), status, NULL);
  }
  double *values = malloc((count + 1) * SAMPLE_COLUMNS * sizeof *values);
  for (size_t i = 0; values && i < count; i++) {
    const hw_sample *s = &drawn[i];
    const double row[SAMPLE_COLUMNS] = {
        s->source.mass_g, s->source.location_m, s->source.time_s, (double)s->source.branch,
        s->velocity_m_s,  s->dispersion_m2_s,   s->weight};
    memcpy(&values[SAMPLE_COLUMNS * i], row, sizeof row);
  }
  free(drawn);
  return values ? hw_py_table_new(module_of(self), values, count,
                                  "mass_g location_m time_s branch velocity_m_s dispersion_m2_s weight")
                : PyErr_NoMemory();
}

static PyObject *predict(PyObject *self, PyObject *arguments) {
  hw_py_run *run = of(self);
  double x_m;
  PyObject *times;
  column c = {0};
  if (!PyArg_ParseTuple(arguments, "dO", &x_m, &times)) {
    return NULL;
  }
  if (!open_column(&c, times, "time_s", "d", -1)) {
    if (c.open) {
      PyBuffer_Release(&c.view);
    }
    return NULL;
  }
  const size_t count = (size_t)c.view.shape[0];
  double *time_s = malloc((count + 1) * sizeof *time_s);
  hw_range *band = malloc((count + 1) * sizeof *band);
  hw_status status = time_s && band ? HW_OK : HW_ENOMEM;
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    time_s[i] = at(&c, (Py_ssize_t)i);
  }
  PyBuffer_Release(&c.view);
  if (status == HW_OK) {
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(run->lock, 1);
    status = hw_run_predict(run->run, &(hw_prediction){x_m, time_s, count, band});
    PyThread_release_lock(run->lock);
    Py_END_ALLOW_THREADS;
  }
  free(time_s);
  if (status != HW_OK) {
    free(band);
    return hw_py_raise(module_of(self), status, NULL);
  }
  _Static_assert(sizeof(hw_range) == 3 * sizeof(double), "a range is three doubles side by side");
  return hw_py_table_new(module_of(self), (double *)(void *)band, count, "lo mid hi");
}

static PyObject *get_river(PyObject *self, void *closure) {
  (void)closure;
  return Py_NewRef((PyObject *)of(self)->river);
}

static PyObject *get_readings(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLongLong(of(self)->counts.readings);
}

static PyObject *get_origin(PyObject *self, void *closure) {
  (void)closure;
  return of(self)->calendar ? PyFloat_FromDouble(of(self)->origin_unix_s) : Py_NewRef(Py_None);
}

static int set_origin(PyObject *self, PyObject *value, void *closure) {
  (void)closure;
  return take_origin(of(self), value);
}

static PyMethodDef methods[] = {
    {"observe", (PyCFunction)(void (*)(void))observe, METH_VARARGS | METH_KEYWORDS,
     "observe(time_s, sensor, concentration_g_m3, below_limit=None, above_limit=None): columns of numbers, through the "
     "buffer protocol; the sensor by its place in the river's list. NaN is a missing reading."},
    {"estimate_json", estimate_json, METH_NOARGS, "The object headwater.estimate/1 as text."},
    {"estimate_text", estimate_text, METH_NOARGS, "The answer in words."},
    {"samples", samples, METH_VARARGS, "samples(most=10000): weighted draws of everything unknown, as a Table."},
    {"predict", predict, METH_VARARGS, "predict(x_m, time_s): lo, mid and hi of the concentration there, as a Table."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef attributes[] = {
    {"river", get_river, NULL, "What it works on.", NULL},
    {"readings", get_readings, NULL, "Readings used so far.", NULL},
    {"origin", get_origin, set_origin, "Instant of time_s = 0, in seconds since 1970.", NULL},
    {0}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_doc,
                               "Run(river, method='posterior', seed=1, level=0.9, particles=0, threads=0, "
                               "origin=None): one method at work."},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec hw_py_run_spec = {
    .name = "headwater._headwater.Run", .basicsize = sizeof(hw_py_run), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
