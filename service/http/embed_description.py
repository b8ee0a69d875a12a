"""Write a C file that holds the description of the interface: embed_description.py OPENAPI.json VERSION OUT.c"""
import json
import sys


def main(description, version, out):
    root = json.load(open(description))
    root["info"]["version"] = version
    data = json.dumps(root, separators=(",", ":"), ensure_ascii=False).encode()
    bytes_ = ",".join(map(str, data))
    with open(out, "w") as file:
        file.write('#include "http/description.h"\n\n')
        file.write(f"const char hw__description[] = {{{bytes_}}};\nconst size_t hw__description_size = {len(data)};\n")


main(*sys.argv[1:])
