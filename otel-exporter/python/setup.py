"""Builds the extension. Without a C compiler the package uses its writer in Python."""

from setuptools import Extension, setup

SOURCE = "src/trace_etl_exporter/"

setup(
    ext_modules=[
        Extension(
            "trace_etl_exporter._ring",
            sources=[SOURCE + "_module.c", SOURCE + "_writer.c", SOURCE + "_trace.c"],
            depends=[SOURCE + "_writer.h"],
            extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"]
            + ["-Wno-unused-parameter", "-Wno-missing-field-initializers"],
            optional=True,
        )
    ]
)
