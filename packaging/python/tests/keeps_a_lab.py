"""Brings a lab up and says its name; then waits, or ends without taking it down."""

import signal
import sys
import time

import ethbus

# A shell's background job starts with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "forget":
    lab = ethbus.lab(stations=2)
    print(lab.name, flush=True)
else:
    with ethbus.lab(stations=2) as lab:
        lab["st1"].start(["sleep", "1000"])
        print(lab.name, flush=True)
        time.sleep(1000)
