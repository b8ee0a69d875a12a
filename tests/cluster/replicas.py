"""Do the copies that NATS keeps of a stream hold the same messages? Read from the files of stopped nodes.

With nats-server 2.9.10 they do not, whenever a leader that was cut off with clients of its own comes back: it keeps
what it was handed meanwhile in the places where the others have acknowledged messages, and no reader can be right on
every node. 2.10.27 puts it right (docs/scale.md).
"""
import glob
import os
import struct

HEAD = struct.Struct("<IQqH")  # length, number, time, length of the subject
CHECKSUM, HEADERS = 8, 1 << 31


def messages(folder, stream):
    """{number: (time, bytes)} of one node's copy."""
    found = {}
    blocks = glob.glob(os.path.join(folder, "jetstream", "$G", "streams", stream, "msgs", "*.blk"))
    for path in sorted(blocks, key=lambda path: int(os.path.basename(path).split(".")[0])):
        with open(path, "rb") as block:
            data = block.read()
        at = 0
        while at + HEAD.size <= len(data):
            length, number, when, _ = HEAD.unpack_from(data, at)
            length &= HEADERS - 1
            if length < HEAD.size + CHECKSUM or at + length > len(data):
                break
            found[number] = (when, data[at + HEAD.size : at + length - CHECKSUM])
            at += length
    return found


def disagreements(cluster, stream="HW_IN"):
    """Numbers under which two nodes hold different messages."""
    copies = [messages(os.path.join(cluster.folder, node.name), stream) for node in cluster.nodes]
    return [
        number
        for number in sorted(set().union(*copies))
        if len({copy[number] for copy in copies if number in copy}) > 1
    ]
