#include "http/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

enum { GZIP_ONLY = 16, FIRST_BYTES = 16 << 10 };

hw__encoding hw__encoding_of(const char *header) {
  if (!header || strcasecmp(header, "identity") == 0) {
    return HW_ENCODING_NONE;
  }
  const bool gzip = strcasecmp(header, "gzip") == 0 || strcasecmp(header, "x-gzip") == 0;
  return gzip ? HW_ENCODING_GZIP : HW_ENCODING_UNKNOWN;
}

/* Room for at least one more byte and the zero at the end, twice what there was and never more than most + 1. */
static hw__inflate_status grow(hw__inflated *out, size_t most, hw__budget *budget) {
  if (out->size + 1 < out->capacity) {
    return HW_INFLATE_DONE;
  }
  if (out->size >= most) {
    return HW_INFLATE_TOO_LARGE;
  }
  const size_t twice = out->capacity ? 2 * out->capacity : FIRST_BYTES, wanted = twice < most + 1 ? twice : most + 1;
  if (!hw__budget_take(budget, wanted - out->capacity)) {
    return HW_INFLATE_NO_ROOM;
  }
  char *grown = realloc(out->text, wanted);
  if (!grown) {
    hw__budget_give(budget, wanted - out->capacity);
    return HW_INFLATE_NO_ROOM;
  }
  out->text = grown;
  out->capacity = wanted;
  return HW_INFLATE_DONE;
}

/* One call of zlib. Where the bound is reached, one byte beside it tells whether anything is left. */
static int inflate_some(z_stream *stream, hw__inflated *out, size_t most, hw__budget *budget,
                        hw__inflate_status *status) {
  unsigned char beyond;
  *status = grow(out, most, budget);
  const bool full = *status == HW_INFLATE_TOO_LARGE;
  if (*status == HW_INFLATE_NO_ROOM) {
    return Z_MEM_ERROR;
  }
  const size_t room = full ? 1 : out->capacity - 1 - out->size;
  stream->next_out = full ? &beyond : (unsigned char *)out->text + out->size;
  stream->avail_out = room > UINT_MAX ? UINT_MAX : (unsigned)room;
  const unsigned offered = stream->avail_out;
  const int code = inflate(stream, Z_NO_FLUSH);
  const size_t written = offered - stream->avail_out;
  out->size += full ? 0 : written;
  *status = full && written ? HW_INFLATE_TOO_LARGE : HW_INFLATE_DONE;
  return code;
}

static hw__inflate_status inflate_members(z_stream *stream, size_t most, hw__budget *budget, hw__inflated *out) {
  hw__inflate_status status = HW_INFLATE_DONE;
  for (;;) {
    const int code = inflate_some(stream, out, most, budget, &status);
    if (status != HW_INFLATE_DONE) {
      return status;
    }
    if (code == Z_STREAM_END) {
      if (stream->avail_in == 0) {
        return HW_INFLATE_DONE;
      }
      if (inflateReset(stream) != Z_OK) {
        return HW_INFLATE_BROKEN;
      }
    } else if (code != Z_OK) {
      return code == Z_MEM_ERROR ? HW_INFLATE_NO_ROOM : HW_INFLATE_BROKEN; /* Z_BUF_ERROR: cut short */
    }
  }
}

hw__inflate_status hw__inflate(const char *packed, size_t size, size_t most, hw__budget *budget, hw__inflated *out) {
  z_stream stream = {0};
  if (size > UINT_MAX) {
    return HW_INFLATE_TOO_LARGE;
  }
  if (inflateInit2(&stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
    return HW_INFLATE_NO_ROOM;
  }
  stream.next_in = (z_const Bytef *)packed;
  stream.avail_in = (unsigned)size;
  hw__inflated inflated = {0};
  hw__inflate_status status = size ? inflate_members(&stream, most, budget, &inflated) : HW_INFLATE_BROKEN;
  inflateEnd(&stream);
  if (status == HW_INFLATE_DONE && inflated.text) {
    inflated.text[inflated.size] = '\0';
    *out = inflated;
  } else {
    free(inflated.text);
    hw__budget_give(budget, inflated.capacity);
  }
  return status;
}
