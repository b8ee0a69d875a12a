/* A file of readings, whole, as a table. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5 };

typedef struct {
  double *values;
  size_t count, room;
} rows;

static bool add(rows *r, const hw_reading *reading) {
  if (r->count == r->room) {
    const size_t room = r->room ? 2 * r->room : 1024;
    double *larger = realloc(r->values, room * COLUMNS * sizeof *larger);
    if (!larger) {
      return false;
    }
    r->values = larger;
    r->room = room;
  }
  double *row = &r->values[COLUMNS * r->count++];
  row[0] = reading->time_s;
  row[1] = (double)reading->sensor;
  row[2] = reading->concentration_g_m3;
  row[3] = reading->below_limit;
  row[4] = reading->above_limit;
  return true;
}

/* Everything the file says. Needs no interpreter. */
typedef struct {
  rows rows;
  hw_reader_counts counts;
  bool calendar;
  double origin_unix_s;
  hw_py_notes notes;
  hw_error error;
} content;

static hw_status read_file(const char *path, const hw_river *river, const char *map, const char *zone, content *out) {
  hw_columns *columns = NULL;
  hw_reader *reader = NULL;
  hw_status status = map ? hw_columns_parse("columns", map, strlen(map), &columns, &out->error) : HW_OK;
  if (status == HW_OK) {
    const hw_reader_options options = {
        .columns = columns, .timezone = zone, .tell = hw_py_notes_take, .context = &out->notes};
    status = hw_reader_open_with(path, river, &options, &reader, &out->error);
  }
  hw_reading reading;
  while (status == HW_OK && (status = hw_reader_next(reader, &reading, &out->error)) == HW_OK) {
    status = add(&out->rows, &reading) ? HW_OK : HW_ENOMEM;
  }
  if (status == HW_EEND) {
    out->counts = *hw_reader_count(reader);
    out->calendar = hw_reader_calendar(reader, &out->origin_unix_s);
    status = HW_OK;
  }
  hw_reader_free(reader);
  hw_columns_free(columns);
  return status;
}

PyObject *hw_py_read(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"path", "river", "columns", "timezone", NULL};
  hw_py_module *module = PyModule_GetState(self);
  PyObject *path = NULL, *river = NULL;
  const char *map = NULL, *zone = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&O!|zz", names, PyUnicode_FSConverter, &path, module->river,
                                   &river, &map, &zone)) {
    return NULL;
  }
  content found = {.error = {""}};
  const char *file = PyBytes_AsString(path);
  hw_status status = HW_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = read_file(file, &((hw_py_river *)(void *)river)->river, map, zone, &found);
  Py_END_ALLOW_THREADS;
  Py_DECREF(path);
  PyObject *notes = hw_py_notes_list(&found.notes);
  if (status != HW_OK || !notes) {
    free(found.rows.values);
    Py_XDECREF(notes);
    return status != HW_OK ? hw_py_raise(module, status, found.error.text) : NULL;
  }
  PyObject *table = hw_py_table_new(module, found.rows.values, found.rows.count,
                                    "time_s sensor concentration_g_m3 below_limit above_limit");
  PyObject *origin = found.calendar ? PyFloat_FromDouble(found.origin_unix_s) : Py_NewRef(Py_None);
  PyObject *result = NULL;
  if (table && origin) {
    const hw_reader_counts *c = &found.counts;
    result = Py_BuildValue("(O{s:K,s:K,s:K,s:K}OO)", table, "rows", (unsigned long long)c->rows, "missing",
                           (unsigned long long)c->missing, "duplicate", (unsigned long long)c->duplicate,
                           "out_of_order", (unsigned long long)c->out_of_order, origin, notes);
  }
  Py_XDECREF(table);
  Py_XDECREF(origin);
  Py_DECREF(notes);
  return result;
}
