#include "base/prometheus.h"

#include <unistd.h>

#include "base/metrics.h"
#include "headwater/version.h"

static double resident_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  long pages = 0, resident = 0;
  if (file) {
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
      resident = 0;
    }
    fclose(file);
  }
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

void hw__prometheus_gauge(FILE *out, const char *name, const char *help, double value) {
  fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", name, help, name, name, value);
}

void hw__prometheus_counts(FILE *out) {
  for (int m = 0; m < HW_METRIC_COUNT; m++) {
    const hw__metric metric = (hw__metric)m;
    fprintf(out, "# HELP %s %s\n# TYPE %s counter\n%s %.17g\n", hw__metric_name(metric), hw__metric_help(metric),
            hw__metric_name(metric), hw__metric_name(metric), (double)hw__metric_get(metric) / hw__metric_unit(metric));
  }
  hw__prometheus_gauge(out, "headwater_resident_memory_bytes", "Memory in use.", resident_bytes());
  fprintf(out, "# HELP headwater_info Version.\n# TYPE headwater_info gauge\nheadwater_info{version=\"%s\"} 1\n",
          HW_VERSION);
}

char *hw__prometheus_text(void (*write)(void *context, FILE *out), void *context) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  write(context, out);
  fclose(out);
  return text;
}
