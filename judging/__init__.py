"""The application: see README.md beside this file."""

VERSION = "0.1.0"
