#include "store/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "headwater/io.h"

enum { PAGE = HW_MARK_EVERY, WHEN = 64, NAME = 160 };

/* --- words --- */

static void say_received(int64_t received_us, char out[WHEN]) {
  hw_time_format((double)received_us * 1e-6, out, WHEN);
}

typedef struct {
  char text[NAME];
  bool calendar;
} naming;

static hw__db_status read_naming(const hw__value *row, void *element) {
  naming *out = element;
  char river[NAME / 2], sensor[NAME / 2];
  hw__value_copy(&row[0], river, sizeof river);
  hw__value_copy(&row[1], sensor, sizeof sensor);
  snprintf(out->text, sizeof out->text, "%s/%s", river, sensor);
  out->calendar = hw__value_integer(&row[2]) == HW_TIME_CALENDAR;
  return HW_DB_OK;
}

/* The sensor and time that the record names. These may be what was changed. */
static void say_whose(hw__db *db, const hw__value *row, char *out, size_t size) {
  if (hw__value_integer(&row[HW_LINK_KIND]) != HW_RECORD_READING) {
    snprintf(out, size, "a command");
    return;
  }
  const int64_t sensor = hw__value_integer(&row[HW_LINK_SENSOR]);
  const double time_s = hw__value_real(&row[HW_LINK_TIME]), value = hw__value_real(&row[HW_LINK_VALUE]);
  naming name;
  char when[WHEN];
  if (hw__sql_one(db, SQL_SENSOR_NAMES, read_naming, &name, HW_VALUES(of_integer(sensor))) != HW_DB_OK) {
    name = (naming){.calendar = false};
    snprintf(name.text, sizeof name.text, "an unknown sensor (key %" PRId64 ")", sensor);
  }
  if (name.calendar && fabs(time_s) < 1e11) {
    hw_time_format(time_s, when, sizeof when);
  } else {
    snprintf(when, sizeof when, "%.17g s", time_s);
  }
  const bool discharge = hw__value_integer(&row[HW_LINK_BELOW]) == HW_DISCHARGE;
  snprintf(out, size, "%s %s, time %s, now %g %s", discharge ? "gauge" : "sensor", name.text, when, value,
           discharge ? "m3/s" : "g/m3");
}

/* --- one block --- */

typedef struct {
  hw__db *db;
  const hw__fault_teller *teller;
  hw__mark at;                              /* the chain as it comes out of what is there */
  int64_t gap_first, gap_last, gap_numbers; /* numbers without a record */
  int64_t before_us, after_us;              /* received stamps around the first gap; 0: none */
  int64_t received_us;                      /* of the last record */
  size_t changed;
  bool unchained; /* behind the last mark and the head, where only a record's own sum vouches for it */
  bool stopped;
} walk;

static void tell(const walk *w, hw__fault *fault) {
  w->teller->tell(w->teller->context, fault);
}

/* As the tables declare it; a command may have no time. */
static bool as_declared(const hw__value *row, size_t column) {
  const hw__value_kind kind = row[column].kind;
  switch (column) {
    case HW_LINK_TIME:
      return kind == HW_VALUE_REAL || (kind == HW_VALUE_NULL && row[HW_LINK_KIND].integer != HW_RECORD_READING);
    case HW_LINK_VALUE:
      return kind == HW_VALUE_REAL;
    case HW_LINK_METHOD:
    case HW_LINK_NOTE:
      return kind == HW_VALUE_TEXT;
    default:
      return kind == HW_VALUE_INTEGER;
  }
}

static int64_t sum_of_values(const hw__value *row) {
  if (hw__value_integer(&row[HW_LINK_KIND]) == HW_RECORD_READING) {
    return hw__row_sum(&row[HW_LINK_RIVER], HW_LINK_INCIDENT - HW_LINK_RIVER);
  }
  return hw__row_sum(HW_VALUES(row[HW_LINK_KIND], row[HW_LINK_RIVER], row[HW_LINK_INCIDENT], row[HW_LINK_TIME],
                               row[HW_LINK_METHOD], row[HW_LINK_RECEIVED], row[HW_LINK_NOTE]));
}

/* The sum is over bits: the same ones read as a real, or an empty text in place of a zero, would pass. One changed bit
 * of a file can do that, so a record with a value of another kind than its column's has a sum of its own. */
int64_t hw__link_sum(const hw__value *row) {
  const int64_t sum = sum_of_values(row);
  for (size_t column = 0; column < HW_LINK_SUM; column++) {
    if (!as_declared(row, column)) {
      return sum ^ 1;
    }
  }
  return sum;
}

static void note_gap(walk *w, int64_t next, int64_t after_us) {
  if (next > w->at.seq + 1) {
    if (!w->gap_numbers) {
      w->gap_first = w->at.seq + 1;
      w->before_us = w->received_us;
      w->after_us = after_us;
    }
    w->gap_last = next - 1;
    w->gap_numbers += next - 1 - w->at.seq;
  }
}

static void check_sum(walk *w, const hw__value *row) {
  const int64_t seq = hw__value_integer(&row[HW_LINK_SEQ]);
  if (row[HW_LINK_SUM].kind != HW_VALUE_INTEGER || hw__link_sum(row) != row[HW_LINK_SUM].integer) {
    char whose[300];
    say_whose(w->db, row, whose, sizeof whose);
    hw__fault fault = {HW_FAULT_CHANGED, seq, seq, 1, ""};
    snprintf(fault.text, sizeof fault.text, "record %" PRId64 " is not what was stored: %s", seq, whose);
    tell(w, &fault);
    w->changed++;
  }
}

/* A record without a sum, or one that should have been followed by a mark, did not come through the chain. */
static void tell_added(walk *w, int64_t seq) {
  hw__fault fault = {HW_FAULT_ADDED, seq, seq, 1, ""};
  snprintf(fault.text, sizeof fault.text, "records from number %" PRId64 " on were never chained", seq);
  tell(w, &fault);
  w->stopped = true;
}

static void take(walk *w, const hw__value *row) {
  const int64_t seq = hw__value_integer(&row[HW_LINK_SEQ]);
  if (w->unchained && (row[HW_LINK_SUM].kind != HW_VALUE_INTEGER || (w->at.records + 1) % HW_MARK_EVERY == 0)) {
    tell_added(w, seq);
    return;
  }
  check_sum(w, row);
  const int64_t received_us = hw__value_integer(&row[HW_LINK_RECEIVED]);
  note_gap(w, seq, received_us);
  w->received_us = received_us;
  hw__mark_step(&w->at, seq, hw__value_integer(&row[HW_LINK_SUM]));
}

/* Records behind w->at, up to this number. */
static hw__db_status take_all(walk *w, int64_t upto) {
  hw__value row[HW_COLUMNS_MOST];
  hw__db_status status = HW_DB_OK;
  size_t rows = PAGE;
  while (rows == PAGE && status == HW_DB_OK && !w->stopped) {
    rows = 0;
    status =
        w->db->driver->start(w->db, SQL_LINKS, HW_VALUES(of_integer(w->at.seq), of_integer(upto), of_integer(PAGE)));
    while (status == HW_DB_OK && !w->stopped && (status = w->db->driver->next(w->db, SQL_LINKS, row)) == HW_DB_OK) {
      take(w, row);
      rows++;
    }
    w->db->driver->finish(w->db, SQL_LINKS);
    status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  }
  return status;
}

/* "received between A and B", as far as that is known. */
static void say_between(int64_t before_us, int64_t after_us, char *out, size_t size) {
  char before[WHEN], after[WHEN];
  say_received(before_us, before);
  say_received(after_us, after);
  snprintf(out, size, "%s%s%s%s", before_us ? ", received after " : "", before_us ? before : "",
           after_us ? (before_us ? " and before " : ", received before ") : "", after_us ? after : "");
}

static void tell_missing(const walk *w, const hw__mark *from, const hw__mark *to, int64_t missing) {
  char received[2 * WHEN + 40];
  hw__fault fault = {HW_FAULT_MISSING, from->seq + 1, to->seq, missing, ""};
  say_between(w->before_us, w->after_us, received, sizeof received);
  if (w->gap_numbers == missing) { /* where numbers have no gaps, it is certain which ones are missing */
    fault.first = w->gap_first;
    fault.last = w->gap_last;
  }
  const bool all = fault.last - fault.first + 1 == missing;
  snprintf(fault.text, sizeof fault.text, "%s%" PRId64 " to %" PRId64 "%s: %" PRId64 " missing%s",
           all ? "records " : "of the records ", fault.first, fault.last, "", missing, received);
  tell(w, &fault);
}

static void compare(const walk *w, const hw__mark *from, const hw__mark *to) {
  const int64_t missing = to->records - w->at.records;
  hw__fault fault = {HW_FAULT_ADDED, from->seq + 1, to->seq, -missing, ""};
  if (missing > 0) {
    tell_missing(w, from, to, missing);
  } else if (missing < 0) {
    snprintf(fault.text, sizeof fault.text, "of the records %" PRId64 " to %" PRId64 ": %" PRId64 " too many",
             fault.first, fault.last, -missing);
    tell(w, &fault);
  } else if (w->at.hash != to->hash && !w->changed) {
    fault.kind = HW_FAULT_CHANGED;
    fault.records = to->records - from->records;
    snprintf(fault.text, sizeof fault.text,
             "records %" PRId64 " to %" PRId64 " are not those that were stored, or not in that order", fault.first,
             fault.last);
    tell(w, &fault);
  }
}

static void tell_unreadable(const walk *w, int64_t upto, hw__db_status status) {
  hw__fault fault = {HW_FAULT_UNREADABLE, w->at.seq + 1, upto, 0, ""};
  snprintf(fault.text, sizeof fault.text, "records %" PRId64 " to %" PRId64 " cannot be read: %s (%.200s)", fault.first,
           upto, hw__db_text(status), w->db->driver->reason(w->db));
  tell(w, &fault);
}

static hw__db_status verify_between(hw__db *db, const hw__mark *from, const hw__mark *to,
                                    const hw__fault_teller *teller, uint64_t *records) {
  walk w = {.db = db, .teller = teller, .at = *from};
  hw__db_status status = take_all(&w, to->seq);
  *records += (uint64_t)(w.at.records - from->records);
  if (status == HW_DB_CORRUPT) {
    tell_unreadable(&w, to->seq, status);
    db->damaged = true;
    return HW_DB_OK;
  }
  if (status == HW_DB_OK) {
    note_gap(&w, to->seq + 1, 0);
    compare(&w, from, to);
  }
  return status;
}

/* Each block is read in a transaction of its own, because retention may move the chain's beginning between two
 * blocks. */
static hw__db_status see_one_moment(hw__db *db) {
  return db->driver->begin(db, false);
}

static hw__db_status mark_by(hw__db *db, hw__sql which, int64_t number, hw__mark *out) {
  return hw__sql_one(db, which, hw__read_mark, out, HW_VALUES(of_integer(number)));
}

hw__db_status hw__verify_block(hw__db *db, int64_t *mark, const hw__fault_teller *teller, uint64_t *records,
                               bool *more) {
  hw__mark from, to;
  *more = false;
  hw__db_status status = see_one_moment(db);
  if (status == HW_DB_OK) {
    /* the mark itself, or the first one that is left when retention removed it */
    status = mark_by(db, SQL_MARK_AFTER, *mark - 1, &from);
  }
  if (status == HW_DB_OK) {
    status = mark_by(db, SQL_MARK_AFTER, from.mark, &to);
  }
  if (status == HW_DB_OK) {
    *more = true;
    *mark = to.mark;
    status = verify_between(db, &from, &to, teller, records);
  }
  db->driver->rollback(db); /* it only read */
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

/* --- the end --- */

static void tell_lost(walk *w, const hw__mark *last, const hw__mark *head) {
  const int64_t missing = head->records - w->at.records;
  hw__fault fault = {HW_FAULT_LOST, last->seq + 1, head->seq, missing, ""};
  size_t count = 0;
  char received[2 * WHEN + 40] = "";
  if (w->gap_numbers == missing) {
    fault.first = w->gap_first;
    fault.last = w->gap_last;
  }
  if (!w->before_us && !w->after_us && hw__db_recent(w->db, &w->before_us, 1, &count) != HW_DB_OK) {
    w->before_us = 0;
  }
  say_between(w->before_us, w->after_us, received, sizeof received);
  snprintf(fault.text, sizeof fault.text,
           "records %" PRId64 " to %" PRId64 " were acknowledged and are gone: %" PRId64 " missing%s", fault.first,
           fault.last, missing, received);
  tell(w, &fault);
}

static void tell_other_log(const hw__fault_teller *teller, const hw__mark *head) {
  hw__fault fault = {HW_FAULT_LOST, 0, head->seq, 0, ""};
  snprintf(fault.text, sizeof fault.text, "the log up to record %" PRId64 " is not the one that was acknowledged",
           head->seq);
  teller->tell(teller->context, &fault);
}

/* The head is ahead of the last mark: it says what the records behind that have to lead to. */
static hw__db_status verify_up_to_head(walk *w, const hw__mark *last, const hw__mark *head, bool chained) {
  const hw__db_status status = chained ? take_all(w, head->seq) : HW_DB_OK;
  if (status != HW_DB_OK) {
    return status;
  }
  note_gap(w, head->seq + 1, 0);
  if (w->at.records < head->records) {
    tell_lost(w, last, head);
  } else if (w->at.records > head->records || (w->at.hash != head->hash && !w->changed)) {
    tell_other_log(w->teller, head);
  }
  return HW_DB_OK;
}

/* The head is behind: does the chain lead through it? */
static hw__db_status verify_through_head(hw__db *db, const hw__mark *head, const hw__fault_teller *teller) {
  hw__mark there;
  const hw__db_status status = hw__chain_at(db, head->seq, &there);
  if (status == HW_DB_OK && (there.records != head->records || there.hash != head->hash)) {
    tell_other_log(teller, head);
  }
  return status == HW_DB_ABSENT ? HW_DB_OK : status; /* retention is past it */
}

/* head: NULL where none is kept. */
static hw__db_status verify_end(hw__db *db, const hw__mark *head, const hw__fault_teller *teller, uint64_t *records) {
  hw__mark last = {.hash = hw__fnv_start()};
  hw__db_status status = hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &last, HW_NO_VALUES);
  const bool chained = status == HW_DB_OK;
  walk w = {.db = db, .teller = teller, .at = last};
  status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  if (status == HW_DB_OK && head) {
    status = head->seq > last.seq ? verify_up_to_head(&w, &last, head, chained) : verify_through_head(db, head, teller);
  }
  if (status == HW_DB_OK && chained) {
    w.unchained = true;
    status = take_all(&w, INT64_MAX);
  }
  *records += (uint64_t)(w.at.records - last.records);
  return status;
}

hw__db_status hw__verify_end(hw__db *db, const hw__fault_teller *teller, uint64_t *records) {
  hw__mark head;
  /* The head is read first, because a service may be adding to the log meanwhile. */
  const bool has_head = db->driver->last_head && db->driver->last_head(db, &head) == HW_DB_OK;
  hw__db_status status = see_one_moment(db);
  if (status == HW_DB_OK) {
    status = verify_end(db, has_head ? &head : NULL, teller, records);
  }
  db->driver->rollback(db);
  return status;
}

hw__db_status hw__verify_log(hw__db *db, const hw__fault_teller *teller) {
  int64_t mark = 0;
  uint64_t records = 0;
  bool more = true;
  hw__db_status status = hw__verify_names(db, teller);
  while (status == HW_DB_OK && more) {
    status = hw__verify_block(db, &mark, teller, &records, &more);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__verify_end(db, teller, &records);
}

hw__db_status hw__verify_last_block(hw__db *db, const hw__fault_teller *teller) {
  hw__mark last;
  uint64_t records = 0;
  bool more = false;
  const hw__db_status status = hw__sql_one(db, SQL_MARK_LAST, hw__read_mark, &last, HW_NO_VALUES);
  if (status != HW_DB_OK) {
    return status == HW_DB_ABSENT ? HW_DB_OK : status;
  }
  last.mark--;
  return hw__verify_block(db, &last.mark, teller, &records, &more);
}

/* --- before the chain --- */

hw__db_status hw__verify_unchained(hw__db *db, const hw__fault_teller *teller, uint64_t *checked, uint64_t *unchained) {
  hw__mark first = {.seq = INT64_MAX};
  hw__value row[HW_COLUMNS_MOST];
  walk w = {.db = db, .teller = teller};
  hw__db_status status = hw__sql_one(db, SQL_MARK_FIRST, hw__read_mark, &first, HW_NO_VALUES);
  size_t rows = PAGE;
  status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  while (rows == PAGE && status == HW_DB_OK) {
    rows = 0;
    status = db->driver->start(db, SQL_LINKS, HW_VALUES(of_integer(w.at.seq), of_integer(first.seq), of_integer(PAGE)));
    while (status == HW_DB_OK && (status = db->driver->next(db, SQL_LINKS, row)) == HW_DB_OK) {
      const bool has_sum = row[HW_LINK_SUM].kind != HW_VALUE_NULL;
      *checked += has_sum;
      *unchained += !has_sum;
      w.at.seq = hw__value_integer(&row[HW_LINK_SEQ]);
      if (has_sum) {
        check_sum(&w, row);
      }
      rows++;
    }
    db->driver->finish(db, SQL_LINKS);
    status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  }
  return status;
}
