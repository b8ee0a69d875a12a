/* The end of the chain in a small file beside an SQLite database, FILE-head.
 *
 * SQLite's own log (FILE-wal) ends for SQLite at the first frame that does not fit its checksum: a damaged byte there
 * takes everything behind it along, acknowledged or not, and what is left looks whole. This file is outside of that. It
 * is written after each commit and before its readings are acknowledged, so it survives the process as it is; it is
 * brought to the disk within a second or so, and by then survives a power cut too. It may be behind the database, never
 * ahead of what was committed. Two slots are written in
 * turn, each with the number of its turn: a torn one leaves the other.
 */
#ifndef HW_STORE_HEAD_FILE_H
#define HW_STORE_HEAD_FILE_H

#include "store/driver.h"

typedef struct {
  int descriptor; /* -1: there is none */
  bool unsynced;
  int64_t turn;
} hw__head_file;

/* Made when it is not there, with all the space it will ever need. */
void hw__head_file_open(hw__head_file *file, const char *database);
void hw__head_file_close(hw__head_file *file);
void hw__head_file_keep(hw__head_file *file, const hw__mark *head);
void hw__head_file_sync(hw__head_file *file);
/* Status: HW_DB_ABSENT when there is none, or none that was written. */
hw__db_status hw__head_file_read(const char *database, hw__mark *out);

#endif
