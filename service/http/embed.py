"""Write a C file that holds the given folder's files: embed.py FOLDER OUT.c

Meson runs on Python, so this asks for nothing that is not there already.
"""
import gzip
import hashlib
import mimetypes
import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
}


def main(folder, out):
    root = pathlib.Path(folder)
    files = sorted(p for p in root.rglob("*") if p.is_file() and not p.name.startswith("."))
    lines = ['#include "http/assets.h"', ""]
    rows = []
    for number, path in enumerate(files):
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:16]
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        body = ",".join(map(str, data)) or "0"
        lines.append(f"static const unsigned char data{number}[] = {{{body}}};")
        packed = gzip.compress(data, 9, mtime=0)
        smaller = len(packed) < 0.9 * len(data)
        if smaller:
            lines.append(f"static const unsigned char packed{number}[] = {{{','.join(map(str, packed))}}};")
        name = path.relative_to(root).as_posix()
        rest = f"packed{number}, {len(packed)}" if smaller else "NULL, 0"
        rows.append(f'    {{"/{name}", "{kind}", "W/\\"{digest}\\"", data{number}, {len(data)}, {rest}}},')
    lines += [
        "",
        "const hw__asset hw__assets[] = {",
        *rows,
        "};",
        "const size_t hw__asset_count = sizeof hw__assets / sizeof hw__assets[0];",
        "",
    ]
    pathlib.Path(out).write_text("\n".join(lines))


main(sys.argv[1], sys.argv[2])
