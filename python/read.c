/* A file of readings, whole, as a table. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5 };

/* The rows of the table, to be freed; NULL without memory. */
static double *rows_of(const hw_reading *readings, size_t count) {
  double *rows = malloc((count + 1) * COLUMNS * sizeof *rows);
  for (size_t i = 0; rows && i < count; i++) {
    const hw_reading *r = &readings[i];
    double *row = &rows[COLUMNS * i];
    row[0] = r->time_s;
    row[1] = (double)r->sensor;
    row[2] = r->concentration_g_m3;
    row[3] = r->below_limit;
    row[4] = r->above_limit;
  }
  return rows;
}

/* Everything the file says. Needs no interpreter. */
typedef struct {
  double *rows;
  size_t count;
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
  hw_reading *readings = NULL;
  if (status == HW_OK) {
    status = hw_reader_rest(reader, 0, &readings, &out->count, &out->error);
  }
  if (status == HW_OK) {
    out->counts = *hw_reader_count(reader);
    out->calendar = hw_reader_calendar(reader, &out->origin_unix_s);
    out->rows = rows_of(readings, out->count);
    status = out->rows ? HW_OK : HW_ENOMEM;
  }
  free(readings);
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
    free(found.rows);
    Py_XDECREF(notes);
    return status != HW_OK ? hw_py_raise(module, status, found.error.text) : NULL;
  }
  PyObject *table =
      hw_py_table_new(module, found.rows, found.count, "time_s sensor concentration_g_m3 below_limit above_limit");
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
