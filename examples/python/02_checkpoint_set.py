"""02: saves the state of many processes in one commit: complete, or not there.

    02_checkpoint_set.py gs://BUCKET/RUN/STEP
"""

import sys

import dataflux

url = sys.argv[1]
with dataflux.Client() as client:
    saving = client.checkpoint_set(url)
    saving.begin()  # one process, before all else
    records: list[str] = []
    for rank in range(4):  # each process its own; records are texts, and travel as such
        with saving.open_member(f"rank-{rank}") as member:
            member.write(bytes([rank]) * 1_000_000)
        records.append(member.record)
    saving.commit(records)  # one process, with all records

    saved = client.latest_set(url)
    print([(member.name, member.size) for member in saved.members])
    print(saved.reader("rank-3").read_at(0, 4))
