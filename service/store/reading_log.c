/* The log: readings and commands in, in order out again. */
#include <stdlib.h>

#include "store/verify.h"

hw__db_status hw__db_time_base(hw__db *db, int64_t river, hw__time_base *out) {
  int64_t base = 0;
  const hw__db_status status = hw__sql_integer(db, SQL_BASE_GET, &base, HW_VALUES(of_integer(river)));
  if (status == HW_DB_OK) {
    *out = (hw__time_base)base;
  }
  return status;
}

enum { BASES_MOST = 1 << 20 }; /* keys grow by one: none is so large */

/* What is stored for the river, asked for once: it never changes. */
static hw__db_status known_base(hw__db *db, int64_t river, hw__time_base *out) {
  const size_t at = (size_t)river;
  if (at < db->base_count && db->bases[at] != HW_TIME_UNSET) {
    *out = db->bases[at];
    return HW_DB_OK;
  }
  return hw__db_time_base(db, river, out);
}

static void remember_base(hw__db *db, int64_t river, hw__time_base base) {
  const size_t at = (size_t)river;
  if (at >= db->base_count) {
    if (at > BASES_MOST) {
      return;
    }
    const size_t wanted = at < 64 ? 128 : 2 * at;
    hw__time_base *grown = realloc(db->bases, wanted * sizeof *grown);
    if (!grown) {
      return; /* then it is asked for again */
    }
    memset(grown + db->base_count, 0, (wanted - db->base_count) * sizeof *grown);
    db->bases = grown;
    db->base_count = wanted;
  }
  db->bases[at] = base;
}

/* A river is in calendar time or relative time for good, as its first stored reading said. A river
 * whose search box has dates takes plain seconds as seconds since 1970. */
static hw__db_status settle_time_base(hw__db *db, const hw__site *site, hw__checked_reading *entry) {
  const hw__time_base told = entry->calendar || site->river.search_is_calendar ? HW_TIME_CALENDAR : HW_TIME_RELATIVE;
  hw__time_base stored = HW_TIME_UNSET;
  hw__db_status status = known_base(db, site->key, &stored);
  if (status == HW_DB_OK && stored == HW_TIME_UNSET) {
    status = hw__sql_run(db, SQL_BASE_SET, HW_VALUES(of_integer(site->key), of_integer((int64_t)told)));
    if (status == HW_DB_OK) {
      status = hw__note_base(db, site->key, told);
    }
    stored = told;
  }
  if (status == HW_DB_OK) {
    remember_base(db, site->key, stored);
    entry->fate = stored == told ? HW_FATE_ACCEPTED : HW_FATE_TIME_BASE;
  }
  return status;
}

int64_t hw__reading_sum(const hw__site *site, const hw__checked_reading *entry, int64_t received_us) {
  return hw__row_sum(HW_VALUES(of_integer(site->key), of_integer(hw__site_key(site, entry->place)),
                               of_real(entry->time_s), of_real(entry->concentration_g_m3),
                               of_integer(hw__censoring(entry)), of_integer(received_us)));
}

static hw__db_status append_one(hw__db *db, const hw__site *site, hw__checked_reading *entry, const hw__stamp *stamp) {
  const hw__value sensor = of_integer(hw__site_key(site, entry->place));
  const hw__value time = of_real(entry->time_s), value = of_real(entry->concentration_g_m3);
  const hw__value below = of_integer(hw__censoring(entry));
  const int64_t sum = hw__reading_sum(site, entry, stamp->received_us);
  size_t added = 0;
  hw__db_status status = db->driver->run(db, SQL_READING_ADD,
                                         HW_VALUES(of_integer(stamp->seq), of_integer(site->key), sensor, time, value,
                                                   below, of_integer(stamp->received_us), of_integer(sum)),
                                         &added);
  entry->fate = HW_FATE_ACCEPTED;
  if (status == HW_DB_OK && added) {
    status = hw__chain_add(db, stamp->seq, sum);
  }
  if (status == HW_DB_OK && !added) {
    int64_t same = 0;
    status = hw__sql_integer(db, SQL_READING_SAME, &same, HW_VALUES(sensor, time, value, below));
    entry->fate = same ? HW_FATE_DUPLICATE : HW_FATE_CONFLICT;
  }
  return status;
}

static hw__db_status settle_time_bases(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries,
                                       size_t count) {
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    status = settle_time_base(db, hw__catalog_site(catalog, entries[i].place.site), &entries[i]);
  }
  return status;
}

/* Rows at once, by a driver that can, and then the chain over those that were taken: numbered as stamped, or on from
 * *seq. */
static hw__db_status append_all(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                                const hw__stamp *stamps, int64_t received_us, int64_t *seq) {
  hw__stamp at = {*seq, received_us};
  hw__db_status status = db->driver->append(db, catalog, entries, count, stamps, received_us, seq);
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    if (entries[i].fate == HW_FATE_ACCEPTED) {
      at = stamps ? stamps[i] : (hw__stamp){at.seq + 1, received_us};
      status = hw__chain_add(
          db, at.seq, hw__reading_sum(hw__catalog_site(catalog, entries[i].place.site), &entries[i], at.received_us));
    }
  }
  return status;
}

hw__db_status hw__db_append(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                            int64_t received_us, int64_t *seq) {
  hw__db_status status = settle_time_bases(db, catalog, entries, count);
  if (status == HW_DB_OK && db->driver->append) {
    return append_all(db, catalog, entries, count, NULL, received_us, seq);
  }
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    if (entries[i].fate == HW_FATE_ACCEPTED) {
      const hw__stamp stamp = {*seq + 1, received_us};
      status = append_one(db, hw__catalog_site(catalog, entries[i].place.site), &entries[i], &stamp);
      *seq += status == HW_DB_OK && entries[i].fate == HW_FATE_ACCEPTED;
    }
  }
  return status;
}

hw__db_status hw__db_append_stamped(hw__db *db, const hw__catalog *catalog, hw__checked_reading *entries, size_t count,
                                    const hw__stamp *stamps) {
  hw__db_status status = settle_time_bases(db, catalog, entries, count);
  if (status == HW_DB_OK && db->driver->append) {
    int64_t unused = 0;
    return append_all(db, catalog, entries, count, stamps, 0, &unused);
  }
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    if (entries[i].fate == HW_FATE_ACCEPTED) {
      status = append_one(db, hw__catalog_site(catalog, entries[i].place.site), &entries[i], &stamps[i]);
    }
  }
  return status;
}

hw__db_status hw__db_command(hw__db *db, hw__log_record *record, int64_t *seq) {
  const hw__value row[] = {of_integer(*seq + 1),
                           of_integer((int64_t)record->kind),
                           of_integer(record->river),
                           of_integer(record->incident),
                           of_real(record->time_s),
                           of_text(record->method),
                           of_integer(record->received_us),
                           of_text(record->note ? record->note : "")};
  const int64_t sum = hw__row_sum(row + 1, 7);
  hw__db_status status = hw__sql_run(
      db, SQL_COMMAND_ADD, HW_VALUES(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], of_integer(sum)));
  if (status == HW_DB_OK) {
    status = hw__chain_add(db, *seq + 1, sum);
  }
  if (status == HW_DB_OK) {
    record->seq = ++*seq;
  }
  return status;
}

static hw__db_status read_note(const hw__value *row, void *element) {
  char **out = element;
  *out = hw__value_duplicate(&row[0]);
  return *out ? HW_DB_OK : HW_DB_MEMORY;
}

hw__db_status hw__db_note(hw__db *db, int64_t seq, char **out) {
  *out = NULL;
  return hw__sql_one(db, SQL_COMMAND_NOTE, read_note, out, HW_VALUES(of_integer(seq)));
}

hw__db_status hw__db_head(hw__db *db, int64_t *seq) {
  return hw__sql_integer(db, SQL_HEAD, seq, HW_NO_VALUES);
}

static hw__db_status read_stamp(const hw__value *row, void *element) {
  *(int64_t *)element = hw__value_integer(row);
  return HW_DB_OK;
}

hw__db_status hw__db_recent(hw__db *db, int64_t *received_us, size_t limit, size_t *count) {
  const hw__collection stamps = {read_stamp, received_us, sizeof *received_us, limit, count};
  return hw__sql_collect(db, SQL_RECENT, &stamps, HW_VALUES(of_integer((int64_t)limit)));
}

hw__db_status hw__read_reading(const hw__value *row, void *element) {
  *(hw__log_record *)element =
      (hw__log_record){.seq = hw__value_integer(&row[0]),
                       .kind = hw__value_integer(&row[5]) == HW_DISCHARGE ? HW_RECORD_DISCHARGE : HW_RECORD_READING,
                       .river = hw__value_integer(&row[1]),
                       .sensor = hw__value_integer(&row[2]),
                       .time_s = hw__value_real(&row[3]),
                       .concentration_g_m3 = hw__value_real(&row[4]),
                       .below_limit = hw__value_integer(&row[5]) == HW_BELOW,
                       .above_limit = hw__value_integer(&row[5]) == HW_ABOVE,
                       .received_us = hw__value_integer(&row[6])};
  return HW_DB_OK;
}

static hw__db_status read_record(const hw__value *row, void *element) {
  hw__log_record *record = element;
  hw__read_reading(row, record);
  const hw__record_kind kind = (hw__record_kind)hw__value_integer(&row[7]);
  if (kind != HW_RECORD_READING) {
    record->kind = kind;
    record->incident = hw__value_integer(&row[8]);
    hw__value_copy(&row[9], record->method, sizeof record->method);
  }
  return HW_DB_OK;
}

hw__db_status hw__db_log(hw__db *db, int64_t after, hw__log_record *out, size_t limit, size_t *count) {
  const hw__collection records = {read_record, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_LOG, &records, HW_VALUES(of_integer(after), of_integer((int64_t)limit)));
}

hw__db_status hw__db_received_until(hw__db *db, int64_t until_us, int64_t head, int64_t *received_us) {
  int64_t low = 0, high = head; /* up to low they were received by then, behind high they were not */
  *received_us = 0;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    hw__log_record next;
    size_t count = 0;
    const hw__db_status status = hw__db_log(db, middle, &next, 1, &count);
    if (status != HW_DB_OK) {
      return status;
    }
    if (count && next.received_us <= until_us) {
      low = next.seq;
      *received_us = next.received_us;
    } else {
      high = middle;
    }
  }
  return HW_DB_OK;
}

hw__db_status hw__db_river_log(hw__db *db, int64_t river, int64_t after, int64_t upto, hw__log_record *out,
                               size_t limit, size_t *count) {
  const hw__collection readings = {hw__read_reading, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_RIVER_LOG, &readings,
                         HW_VALUES(of_integer(river), of_integer(after), of_integer(upto), of_integer((int64_t)limit)));
}

hw__db_status hw__db_lead_in(hw__db *db, const hw__lead_in *what, hw__log_record *out, size_t limit, size_t *count) {
  const hw__collection readings = {hw__read_reading, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_LEAD_IN, &readings,
                         HW_VALUES(of_integer(what->river), of_real(what->from_s), of_integer(what->after),
                                   of_integer(what->before), of_integer((int64_t)limit)));
}

hw__db_status hw__db_sensor_log(hw__db *db, int64_t sensor, double from_s, double to_s, hw__log_record *out,
                                size_t limit, size_t *count) {
  const hw__collection readings = {hw__read_reading, out, sizeof *out, limit, count};
  const hw__db_status status =
      hw__sql_collect(db, SQL_SENSOR_LOG, &readings,
                      HW_VALUES(of_integer(sensor), of_real(from_s), of_real(to_s), of_integer((int64_t)limit)));
  for (size_t i = 0; status == HW_DB_OK && i < *count / 2; i++) {
    const hw__log_record swap = out[i];
    out[i] = out[*count - 1 - i];
    out[*count - 1 - i] = swap;
  }
  return status;
}

hw__db_status hw__db_sensor_page(hw__db *db, const hw__sensor_span *what, hw__log_record *out, size_t limit,
                                 size_t *count) {
  const hw__collection readings = {hw__read_reading, out, sizeof *out, limit, count};
  return hw__sql_collect(db, SQL_SENSOR_PAGE, &readings,
                         HW_VALUES(of_integer(what->sensor), of_real(what->after_s), of_real(what->to_s),
                                   of_integer(what->after_seq), of_integer((int64_t)limit)));
}
