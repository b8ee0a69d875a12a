/* Structured logs: one JSON object a line on standard error, for people with grep and for collectors. */
#ifndef HW_BASE_LOG_H
#define HW_BASE_LOG_H

typedef enum { HW_LOG_ERROR, HW_LOG_WARNING, HW_LOG_INFO } hw__log_level;

/* {"time": ..., "level": ..., "event": ..., key: value}. key NULL: no field beside these. */
void hw__log(hw__log_level level, const char *event, const char *key, const char *value);
/* The same with a formatted value. */
void hw__logf(hw__log_level level, const char *event, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with any number of fields, in jansson's notation: "{s:I, s:f}", key, value, ... */
void hw__log_fields(hw__log_level level, const char *event, const char *format, ...);

#endif
