# syntax=docker/dockerfile:1
# medcite's service and commands: `medcite serve`, `medcite ingest …`. Built for amd64 and arm64.
#   docker build -f docker/app.Dockerfile -t medcite .
# TORCH_INDEX names a package index with CPU wheels of PyTorch; without it Linux on amd64 gets the CUDA build, some 5 GB.

FROM node:22-slim AS page
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM python:3.13-slim AS wheels
ARG TORCH_INDEX=""
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
ARG PIP_CERT
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/medcite
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY core core
COPY ingestion ingestion
COPY middleware middleware
COPY evaluation evaluation
COPY cli cli
COPY --from=page /src/frontend/dist frontend/dist
RUN if [ -n "$TORCH_INDEX" ]; then /opt/medcite/bin/pip install --index-url "$TORCH_INDEX" torch; fi \
    && /opt/medcite/bin/pip install .

FROM python:3.13-slim
# A number, so that Kubernetes and others can see that it is not root.
RUN useradd --uid 10001 --create-home --home-dir /home/medcite --shell /usr/sbin/nologin medcite \
    && mkdir /data && chown 10001:10001 /data
COPY --from=wheels /opt/medcite /opt/medcite
ENV PATH=/opt/medcite/bin:$PATH PYTHONUNBUFFERED=1 MEDCITE_DATA_DIR=/data MEDCITE_LOG_FORMAT=json HF_HOME=/data/models
USER 10001:10001
WORKDIR /home/medcite
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=180s --retries=6 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["medcite"]
CMD ["up", "--host", "0.0.0.0", "--port", "8000"]
