# The web application and, with another command, a worker that has LLMs judge: docker run … python manage.py worker
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 VAR_DIR=/var/lib/unjudged

WORKDIR /srv/unjudged
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY manage.py ./
COPY annotator annotator
COPY judging judging
COPY templates templates
COPY static static
COPY fixtures fixtures

RUN useradd --system --create-home unjudged \
    && mkdir -p "$VAR_DIR" \
    && chown unjudged "$VAR_DIR"
USER unjudged
VOLUME ["/var/lib/unjudged"]
EXPOSE 8000

CMD ["sh", "-c", "python manage.py migrate --verbosity 0 && python manage.py collectstatic --noinput --verbosity 0 && exec gunicorn annotator.wsgi --bind 0.0.0.0:8000 --workers 2 --threads 4"]
