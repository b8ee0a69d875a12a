#include "http/assets.h"

#include <string.h>

#include "http/deflate.h"
#include "http/handlers.h"

/* Only files that were built in can be asked for; there is no path to anything else. */
hw__reply hw__get_asset(hw__request *request) {
  const char *path = strcmp(request->path, "/") == 0 ? "/index.html" : request->path;
  for (size_t i = 0; i < hw__asset_count; i++) {
    const hw__asset *asset = &hw__assets[i];
    if (strcmp(asset->path, path) != 0) {
      continue;
    }
    const char *held = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "If-None-Match");
    const bool same = held && strcmp(held, asset->etag) == 0;
    const bool packed = asset->packed && hw__takes_gzip(request->connection);
    const unsigned char *data = packed ? asset->packed : asset->data;
    const size_t size = packed ? asset->packed_size : asset->size;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(same ? 0 : size, (void *)data, MHD_RESPMEM_PERSISTENT);
    if (!response) {
      return hw__reply_later("out of memory, ask again");
    }
    MHD_add_response_header(response, "Content-Type", asset->type);
    MHD_add_response_header(response, "ETag", asset->etag);
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "Vary", "Accept-Encoding");
    if (packed && !same) {
      MHD_add_response_header(response, "Content-Encoding", "gzip");
    }
    return (hw__reply){.code = same ? 304 : 200, .response = response};
  }
  return hw__reply_error(404, "nothing here; see docs/api.md");
}
