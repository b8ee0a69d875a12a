/* Who may do what: tokens, kept only as hashes.
 *
 * The token file has one token a line: `ROLES SHA256 [note]`, ROLES a comma list of read, ingest and
 * admin, SHA256 the 64 hexadecimal digits of the token's hash; `#` starts a comment. A role never
 * implies another. Comparison takes the same time whichever byte differs, over every line.
 */
#ifndef HW_HTTP_AUTH_H
#define HW_HTTP_AUTH_H

#include "headwater/status.h"

enum { HW_ROLE_READ = 1, HW_ROLE_INGEST = 2, HW_ROLE_ADMIN = 4, HW_ROLE_ALL = 7 };

typedef struct hw__auth hw__auth;

/* Status: HW_EINPUT for a bad line or a file without tokens, HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__auth_load(const char *path, hw__auth **out, hw_error *error);
/* Read the file again, while others ask. On failure the tokens stay as they were. */
hw_status hw__auth_reload(hw__auth *auth, hw_error *error);
/* Counts up with every reload: what was allowed before has to be asked for again. auth NULL: 0. */
unsigned hw__auth_version(hw__auth *auth);
void hw__auth_free(hw__auth *auth);
/* Roles of this token, 0 for one that is not known. auth NULL: all (no token file). */
unsigned hw__auth_roles(hw__auth *auth, const char *token);

#endif
