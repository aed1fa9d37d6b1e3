# memrepo in a container: git, a scheduler, and nothing that runs as root.
#   docker build -t memrepo .
#   docker run -d --name memory -v memory:/memory -v ~/agent:/workspace:ro memrepo
#   docker exec memory memrepo status
FROM python:3.13-alpine AS built
WORKDIR /src
COPY . .
# A package without a wheel for musl is compiled here and nowhere else.
# hadolint ignore=DL3018
RUN apk add --no-cache build-base \
    && python -m venv /usr/local/lib/memrepo \
    && /usr/local/lib/memrepo/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
    && /usr/local/lib/memrepo/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-alpine
# hadolint ignore=DL3018
RUN apk add --no-cache git supercronic tini tzdata \
    && adduser -D -u 1000 memrepo \
    && mkdir /memory /workspace \
    && chown memrepo:memrepo /memory
COPY --from=built /usr/local/lib/memrepo /usr/local/lib/memrepo
COPY --chmod=755 templates/deploy/start /usr/local/bin/memrepo-start
COPY templates/deploy/crontab /etc/memrepo/crontab
ENV PATH=/usr/local/lib/memrepo/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    GIT_AUTHOR_NAME=memrepo GIT_AUTHOR_EMAIL=memrepo@localhost \
    GIT_COMMITTER_NAME=memrepo GIT_COMMITTER_EMAIL=memrepo@localhost
USER 1000
WORKDIR /memory
VOLUME ["/memory"]
HEALTHCHECK --interval=10m --timeout=30s --start-period=30s \
    CMD ["memrepo", "-C", "/memory", "--quiet", "status"]
ENTRYPOINT ["tini", "--", "memrepo-start"]
CMD ["supercronic", "/etc/memrepo/crontab"]
