# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel that pip installs (PEP 517), with nothing but Python's own library.

setuptools would do, if pip did not fetch it from the network for every build. A wheel is a zip file with three small
texts in it. Where the tree has been built, or ORRERY_LIBRARY names a library, that goes into the package, and the wheel
is for this machine's kind alone; else it holds Python only, and the library is looked for where it is installed.
"""
import base64
import hashlib
import os
import re
import sysconfig
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME, SONAME = "orrery", "liborrery.so.0"
VERSION = re.search(r'^version = "(.+)"', (HERE / "pyproject.toml").read_text(), re.M).group(1)
INFO = f"{NAME}-{VERSION}.dist-info"
EPOCH = (1980, 1, 1, 0, 0, 0)  # two wheels of one tree are the same bytes


def library():
    places = [os.environ.get("ORRERY_LIBRARY", ""), HERE.parent / "build" / "src" / SONAME]
    return next((Path(place) for place in places if place and Path(place).is_file()), None)


def texts(tag):
    metadata = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: Simulator of distributed AI training\n"
                "License: Apache-2.0\nRequires-Python: >=3.9\nProvides-Extra: pandas\n"
                "Requires-Dist: pandas; extra == 'pandas'\n")
    wheel = f"Wheel-Version: 1.0\nGenerator: orrery\nRoot-Is-Purelib: {str(tag.endswith('any')).lower()}\nTag: {tag}\n"
    return {"METADATA": metadata, "WHEEL": wheel}


def write_wheel(folder, files, tag):
    """`files`: name in the wheel and bytes. Returns the wheel's own name."""
    name = f"{NAME}-{VERSION}-{tag}.whl"
    files = {**files, **{f"{INFO}/{said}": text.encode() for said, text in texts(tag).items()}}
    record = ""
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(content)}\n"
            wheel.writestr(entry(path), content)
        wheel.writestr(entry(f"{INFO}/RECORD"), record + f"{INFO}/RECORD,,\n")
    return name


def entry(path):
    made = zipfile.ZipInfo(path, EPOCH)
    made.compress_type, made.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return made


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = HERE / NAME
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in package.iterdir()
             if path.suffix == ".py" or path.name == "py.typed"}
    bundled, tag = library(), "py3-none-any"
    if bundled is not None:
        files[f"{NAME}/{SONAME}"] = bundled.read_bytes()
        tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    return write_wheel(wheel_directory, files, tag)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: a line that names this folder, so that the tree's own build is used."""
    return write_wheel(wheel_directory, {f"__editable__.{NAME}.pth": f"{HERE}\n".encode()}, "py3-none-any")


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}-{VERSION}"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in [HERE / "pyproject.toml", HERE / "build_backend.py", *sorted((HERE / NAME).glob("*.py")),
                     HERE / NAME / "py.typed"]:
            archive.add(path, f"{name}/{path.relative_to(HERE)}")
    return f"{name}.tar.gz"
