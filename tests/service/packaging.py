"""The files for containers: no password on a command line, every image of one release: packaging.py FOLDER"""

import re
import sys

folder = sys.argv[1]
compose = open(folder + "/compose.yaml").read()
images = re.findall(r"image: *(\S+)", compose) + re.findall(r"^FROM (\S+)", open(folder + "/Dockerfile").read(), re.M)
faults = [
    f"image {image}: expected a release, not a moving tag" for image in images if not re.search(r":\d+\.\d+", image)
]
for line in compose.splitlines():
    if re.match(r"\s*(command|entrypoint|x-servers)", line) and "PASSWORD" in line:
        faults.append(f"a password on a command line: {line.strip()[:80]}")
assert len(images) == 4, images
print("\n".join(faults) or f"ok   {len(images)} images, no password on a command line")
sys.exit(bool(faults))
