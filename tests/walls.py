"""The walls of the house: no #include may point where tests/walls.txt does not allow it.

    walls.py [ROOT]          fails on an edge that is not allowed, on files that include each other in a circle, or when
                             docs/architecture.md shows another graph; prints the graph of rooms
    walls.py [ROOT] --write  puts the graph into docs/architecture.md

A room is a folder, or one public header. The file lists rooms from the ground up, each with those it may include from,
all of them further up in the file; so a graph that keeps to it has no circles.
"""
import fnmatch
import os
import pathlib
import re
import sys
import textwrap

FOLDERS = ("include", "src", "service", "plot", "cli", "experiments")
SEARCHED = ("", "include", "src", "service", "service/api", "experiments")  # include paths of the build


def room_of(path):
    """The public header itself, or the folder of any other file."""
    folder = path.parent.as_posix()
    return f"headwater/{path.name}" if folder == "include/headwater" else folder


def read_rules(path):
    """{room: rooms it may include from}; faults of the file end the test."""
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        room, colon, names = line.partition(":")
        if not colon:
            sys.exit(f"{path}:{number}: expected ROOM: ROOMS")
        seen = set()
        for name in names.split():
            above = set(fnmatch.filter(allowed, name.removeprefix("!")))
            if not above:
                sys.exit(f"{path}:{number}: {room} may include from {name}, which does not stand above it")
            seen = seen - above if name.startswith("!") else seen | above
        allowed[room] = seen
    return allowed


def resolve(root, file, name):
    """The file of this project that #include "name" means, relative to the root; None for one made by the build."""
    for folder in (*SEARCHED, file.parent.as_posix()):
        target = pathlib.Path(os.path.normpath(pathlib.Path(folder) / name))
        if (root / target).is_file():
            return target
    return None


def includes(root):
    """{file: {file it includes: the name it uses}} over all sources."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            file = path.relative_to(root)
            names = re.findall(r'^\s*#\s*include\s+[<"]([^">]+)[">]', path.read_text(), re.MULTILINE)
            targets = ((resolve(root, file, name), name) for name in names)
            found[file] = {target: name for target, name in targets if target}
    return found


def edges(files):
    """{(room, room): [file: include]} of the files' includes."""
    found = {}
    for file, targets in files.items():
        for target, name in targets.items():
            if room_of(target) != room_of(file):
                found.setdefault((room_of(file), room_of(target)), []).append(f"{file}: {name}")
    return found


def circle(files):
    """Files that include each other in a circle, the first again at the end; [] where there is none."""
    done, way = set(), []

    def follow(file):
        if file in way:
            return way[way.index(file) :] + [file]
        if file in done:
            return []
        way.append(file)
        found = next(filter(None, map(follow, files.get(file, ()))), [])
        way.pop()
        done.add(file)
        return found

    return next(filter(None, map(follow, files)), [])


def graph(found, rooms):
    """One line a room: what it includes from, the public headers as one."""
    lines = []
    for room in rooms:
        if room.startswith("headwater/"):
            continue
        targets = [to for at, to in found if at == room]
        inside = [other for other in rooms if other in targets and not other.startswith("headwater/")]
        public = ["headwater/"] if any(to.startswith("headwater/") for to in targets) else []
        names = textwrap.wrap(" ".join(public + inside), 94, break_on_hyphens=False) or [""]
        lines += [f"{room:<24}{names[0]}".rstrip(), *(" " * 24 + line for line in names[1:])]
    return "\n".join(lines)


def shown_graph(page):
    """(start, end) of the graph in docs/architecture.md."""
    start = page.index("```\nsrc/core") + 4
    return start, page.index("\n```", start)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    root = pathlib.Path(arguments[0] if arguments else ".")
    allowed = read_rules(root / "tests/walls.txt")
    files = includes(root)
    found = edges(files)
    bad = 0
    for (at, to), lines in sorted(found.items()):
        if at not in allowed:
            fault = f"no line for {at}"
        elif to in allowed[at]:
            continue
        else:
            fault = f"{at} may not include from {to}"
        bad += 1
        print(f"tests/walls.txt: {fault}\n  " + "\n  ".join(lines), file=sys.stderr)
    around = circle(files)
    if around:
        bad += 1
        print("a circle of includes: " + " -> ".join(map(str, around)), file=sys.stderr)
    now = graph(found, allowed)
    print(now)
    document = root / "docs/architecture.md"
    page = document.read_text()
    start, end = shown_graph(page)
    if "--write" in sys.argv:
        document.write_text(page[:start] + now + page[end:])
    elif page[start:end] != now:
        bad += 1
        print("docs/architecture.md shows another graph: run tests/walls.py --write", file=sys.stderr)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
