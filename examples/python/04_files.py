"""04: writes and reads an object as a file. It appears whole when the file is closed, or not at all.

    04_files.py gs://BUCKET/NAME
"""

import sys
import zipfile

import dataflux

url = sys.argv[1]
with dataflux.open(url, "wb") as file, zipfile.ZipFile(file, "w") as archive:
    archive.writestr("first.txt", "1")
    archive.writestr("second.txt", "22")

try:
    with dataflux.open(url, "wb") as file:
        file.write(b"half of")
        raise RuntimeError("something went wrong in the midst")
except RuntimeError as why:
    print(f"{why}: the object is as it was")

with dataflux.open(url) as source, zipfile.ZipFile(source) as archive:
    print(archive.namelist(), archive.read("second.txt"))
