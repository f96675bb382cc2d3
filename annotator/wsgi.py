"""The entry point of gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")

application = get_wsgi_application()

# What is loaded by now stays for the life of the process: the collector need not look through it again and again. And
# it looks for cycles after 50,000 new objects, not 700: a page makes some thousands. Together a tenth of its time.
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 100)
