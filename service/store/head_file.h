/* The end of the chain in a small file beside an SQLite database, FILE-head.
 *
 * SQLite's own log (FILE-wal) ends for SQLite at the first frame that does not fit its checksum: a damaged byte
 * there loses everything after it, acknowledged or not, and what is left looks intact. This file is not affected by
 * that. It is written after each commit and before its readings are acknowledged, so it survives the process as it
 * is; it is synced within about a second, and survives a power cut from then on. It may be behind the database,
 * never ahead of what was committed. Two slots are written in turn, each with the number of its turn: a torn one
 * leaves the other.
 */
#ifndef HW_STORE_HEAD_FILE_H
#define HW_STORE_HEAD_FILE_H

#include "store/driver.h"

typedef struct {
  int descriptor; /* -1: there is none */
  bool unsynced;
  int64_t turn;
} hw__head_file;

/* Creates the file if need be, with all the space it will ever need. */
void hw__head_file_open(hw__head_file *file, const char *database);
void hw__head_file_close(hw__head_file *file);
/* Returned: was it kept? */
bool hw__head_file_keep(hw__head_file *file, const hw__mark *head);
void hw__head_file_sync(hw__head_file *file);
/* Status: HW_DB_ABSENT when there is no file, or nothing was written to it. */
hw__db_status hw__head_file_read(const char *database, hw__mark *out);

#endif
