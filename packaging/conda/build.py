"""Conda packages of the program and the Python module: packaging/conda/build.py ARCHIVE FOLDER

ARCHIVE is one that packaging/build.sh has made. Needs `pip install py-rattler-build`, and asks no channel.
"""

import os
import sys
import warnings
from pathlib import Path

import rattler_build

archive, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
os.environ["ETHBUS_ARCHIVE"] = str(archive)
os.environ["ETHBUS_VERSION"] = archive.name.removeprefix("ethbus-").split("-linux-")[0]
warnings.simplefilter("ignore", DeprecationWarning)
recipe = Path(__file__).with_name("recipe.yaml")
# The recipe's tests solve an environment, for which a channel must have Python; its scripts run the program.
rattler_build.build_recipes([recipe], channel=[], test="skip", output_dir=folder)
made = sorted(folder.rglob("*.conda"))
assert [path.name.rsplit("-", 2)[0] for path in made] == ["ethbus", "ethbus-python"], made
print(*made, sep="\n")
