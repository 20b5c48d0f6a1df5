# `timelike serve` in a container: docker build -t timelike . && docker run -v ./model:/models/model:ro \
#   -e TIMELIKE_TOKEN=… -p 127.0.0.1:8080:8080 timelike
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/timelike && /opt/timelike/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.13-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home timelike
COPY --from=build /opt/timelike /opt/timelike
ENV PATH=/opt/timelike/bin:$PATH \
    JAX_PLATFORMS=cpu \
    JAX_COMPILATION_CACHE_DIR=/tmp/compiled \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
EXPOSE 8080
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=4)"]
ENTRYPOINT ["timelike", "serve", "--host", "0.0.0.0", "--port", "8080"]
CMD ["/models/model"]
