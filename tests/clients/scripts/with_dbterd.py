"""Runs in an environment with dbterd: FOLDER with manifest.json and catalog.json → its entity-relationship diagram."""

import sys

from dbterd.api import DbtErd

sys.stdout.write(DbtErd(artifacts_dir=sys.argv[1], target="dbml", algo=sys.argv[2]).get_erd())
