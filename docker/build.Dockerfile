# Builds a project, with Java, PySpark and the jars of Delta and Iceberg; the project's folder must be writable for user 1000:
#   make package && docker build -f docker/build.Dockerfile -t merge-runner:build .
#   docker run --rm -v "$PWD:/project" merge-runner:build
FROM python:3.12-slim-bookworm
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 merge-runner
# hadolint ignore=DL3013
RUN --mount=type=bind,source=dist,target=/dist \
    wheel=$(ls /dist/*.whl) \
    && python -m pip install --no-cache-dir --root-user-action=ignore "${wheel}[spark]"
USER 1000:1000
# The jars, verified by their SHA-256, so that a container needs no network.
RUN merge-runner deps --sqlite
WORKDIR /project
ENTRYPOINT ["merge-runner"]
CMD ["build"]
