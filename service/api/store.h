/* A STORE, as options name it: a file of SQLite, or postgresql://... */
#ifndef HW_API_STORE_H
#define HW_API_STORE_H

#define HW_DEFAULT_STORE "headwater.db"

#endif
