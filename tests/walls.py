"""The walls of the house: no #include may point where tests/walls.txt does not allow it.

    walls.py [ROOT]     fails on an edge that is not allowed; prints the graph of rooms

A room is a folder, or one public header. The file lists rooms from the ground up, each with those it may include from,
all of them further up in the file; so a graph that keeps to it has no circles.
"""
import fnmatch
import os
import pathlib
import re
import sys

FOLDERS = ("include", "src", "service", "plot", "cli", "experiments")
SEARCHED = ("", "include", "src", "service", "service/api", "experiments")  # include paths of the build


def room_of(path):
    """The public header itself, or the folder of any other file."""
    folder = path.parent.as_posix()
    return f"headwater/{path.name}" if folder == "include/headwater" else folder


def read_rules(path):
    """({room: rooms it may include from}, {(from, to) excepted}); faults of the file end the test."""
    allowed, excepted = {}, set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        room, colon, names = line.partition(":")
        if not colon:
            sys.exit(f"{path}:{number}: expected ROOM: ROOMS")
        if room == "exception":
            excepted |= {tuple(end.strip() for end in edge.split("->")) for edge in names.split(",")}
            continue
        seen = set()
        for name in names.split():
            above = set(fnmatch.filter(allowed, name.removeprefix("!")))
            if not above:
                sys.exit(f"{path}:{number}: {room} may include from {name}, which does not stand above it")
            seen = seen - above if name.startswith("!") else seen | above
        allowed[room] = seen
    return allowed, excepted


def resolve(root, file, name):
    """The file of this project that #include "name" means, relative to the root; None for one made by the build."""
    for folder in (*SEARCHED, file.parent.as_posix()):
        target = pathlib.Path(os.path.normpath(pathlib.Path(folder) / name))
        if (root / target).is_file():
            return target
    return None


def edges(root):
    """{(room, room): [file: include]} over all sources."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            file = path.relative_to(root)
            for name in re.findall(r'^\s*#\s*include\s+[<"]([^">]+)[">]', path.read_text(), re.MULTILINE):
                target = resolve(root, file, name)
                if target and room_of(target) != room_of(file):
                    found.setdefault((room_of(file), room_of(target)), []).append(f"{file}: {name}")
    return found


def print_graph(found, rooms):
    """One line a room: what it includes from, the public headers as one."""
    for room in rooms:
        if room.startswith("headwater/"):
            continue
        targets = [to for at, to in found if at == room]
        inside = [other for other in rooms if other in targets and not other.startswith("headwater/")]
        public = ["headwater/"] if any(to.startswith("headwater/") for to in targets) else []
        print(f"{room:<24}{' '.join(public + inside)}".rstrip())


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    allowed, excepted = read_rules(root / "tests/walls.txt")
    found = edges(root)
    bad = 0
    for (at, to), includes in sorted(found.items()):
        if at not in allowed:
            fault = f"no line for {at}"
        elif to in allowed[at] or (at, to) in excepted:
            continue
        else:
            fault = f"{at} may not include from {to}"
        bad += 1
        print(f"tests/walls.txt: {fault}\n  " + "\n  ".join(includes), file=sys.stderr)
    for at, to in sorted(excepted - set(found)):
        bad += 1
        print(f"tests/walls.txt: {at} no longer includes from {to}, the exception can go", file=sys.stderr)
    print_graph(found, allowed)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
