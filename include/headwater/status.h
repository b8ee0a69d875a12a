/* What a call can answer, and how it says so.
 *
 * Every function that can fail returns an hw_status: HW_OK (0) or a negative code. The list below is
 * the only one; the enum, the texts and the table in the manual all come from it. Why an iteration
 * stopped is not a failure and has a list of its own (hw_stop in estimate.h).
 *
 * The library never prints, aborts or exits. Where a code alone would not help (a bad line in a
 * file) the call also fills an hw_error with one sentence for people.
 */
#ifndef HEADWATER_STATUS_H
#define HEADWATER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define HW_STATUS_LIST(X)                                           \
  X(HW_OK, 0, "done")                                               \
  X(HW_EDOMAIN, -1, "an argument is outside its domain")            \
  X(HW_ENOMEM, -2, "out of memory")                                 \
  X(HW_EINPUT, -3, "the input is at fault")                         \
  X(HW_EIO, -4, "reading or writing failed")                        \
  X(HW_EHYDRAULICS, -5, "the method needs velocity and dispersion") \
  X(HW_ENONFINITE, -6, "a computation left the finite numbers")     \
  X(HW_ENAME, -7, "no such name")                                   \
  X(HW_EEMPTY, -8, "not enough readings yet")                       \
  X(HW_EUNSUPPORTED, -9, "the method does not offer this")          \
  X(HW_EEND, -10, "no more data")

typedef enum {
#define HW_STATUS_ENUM(name, value, text) name = value,
  HW_STATUS_LIST(HW_STATUS_ENUM)
#undef HW_STATUS_ENUM
} hw_status;

/* One sentence for a person: file, line, what was found, what was expected. */
typedef struct {
  char text[512];
} hw_error;

/* The text of a status; never NULL, also for a value that is not in the list. */
const char *hw_status_text(hw_status status);

/* The name of a status as written above, e.g. "HW_EDOMAIN"; "HW_?" for a value that is not one. */
const char *hw_status_name(hw_status status);

#ifdef __cplusplus
}
#endif

#endif
