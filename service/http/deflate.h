/* Answers sent compressed to those who take them so. */
#ifndef HW_HTTP_DEFLATE_H
#define HW_HTTP_DEFLATE_H

#include "http/http.h"

/* Does this client take gzip? */
bool hw__takes_gzip(struct MHD_Connection *connection);
/* Compress the text of a reply where that is worth it. Returned: whether it was. */
bool hw__reply_deflate(hw__reply *reply);

#endif
