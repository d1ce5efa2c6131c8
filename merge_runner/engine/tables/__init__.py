"""The tables of the session's catalog: DDL, schema drift, branches, first run, cached inputs."""
