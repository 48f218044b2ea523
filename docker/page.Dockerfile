# syntax=docker/dockerfile:1
# The page as static files, and a proxy to the service that passes its event streams on at once.
#   docker build -f docker/page.Dockerfile -t medcite-page .

FROM node:22-slim AS page
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM nginxinc/nginx-unprivileged:1.29-alpine
COPY docker/nginx.conf /etc/nginx/conf.d/default.conf
COPY --from=page /src/frontend/dist /usr/share/nginx/html
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --retries=6 CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/"]
